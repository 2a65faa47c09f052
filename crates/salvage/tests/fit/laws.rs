//! Properties of fitting that hold for every schema and every value.

mod damage;
mod model;

use proptest::prelude::*;
use reknit_protocol::Value;
use reknit_salvage::{FixKind, Schema, fit};

use crate::second_validator::second_validator_accepts;
use damage::{Dice, damaged, misspelt};
use model::{Model, any_json, model, plain_model};

fn compile(model: &Model) -> Schema {
    let text = model.schema();
    Schema::compile(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A model with a value that fits it.
fn fitting(model: impl Strategy<Value = Model>) -> impl Strategy<Value = (Model, Value)> {
    model.prop_flat_map(|model| {
        let values = model.values();
        (Just(model), values)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_that_fits_is_never_changed((model, value) in fitting(model())) {
        let schema = compile(&model);
        prop_assert!(schema.fits(&value), "{} is no example of {}", value, model.schema());
        let fitted = fit(value.clone(), &schema).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(fitted.value.to_string(), value.to_string(), "under {}", model.schema());
        prop_assert!(fitted.fixes.is_empty());
    }

    #[test]
    fn only_misspelt_keys_change_in_a_value_that_fits((model, value) in fitting(plain_model()), dice in any::<Dice>()) {
        let schema = compile(&model);
        let written = misspelt(&model, &value, &mut dice.clone());
        let fitted = fit(written.clone(), &schema).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(fitted.value.to_string(), value.to_string(), "from {} under {}", written, model.schema());
        prop_assert!(fitted.fixes.iter().all(|fix| fix.kind == FixKind::KeySpelling));
    }

    #[test]
    fn a_damaged_value_is_recovered((model, value) in fitting(plain_model()), dice in any::<Dice>()) {
        let schema = compile(&model);
        let written = damaged(&model, &value, &mut dice.clone());
        let fitted = fit(written.clone(), &schema)
            .map_err(|error| TestCaseError::fail(format!("{written} under {}: {error}", model.schema())))?;
        prop_assert_eq!(fitted.value.to_string(), value.to_string(), "from {} under {}", written, model.schema());
        prop_assert_eq!(fitted.fixes.is_empty(), written.to_string() == value.to_string());
    }

    #[test]
    fn a_fitted_value_fits_and_is_not_changed_again((model, value) in (model(), any_json())) {
        let schema = compile(&model);
        match fit(value.clone(), &schema) {
            Ok(fitted) => {
                prop_assert!(schema.fits(&fitted.value), "{} under {}", fitted.value, model.schema());
                let agrees = second_validator_accepts(&model.schema(), &fitted.value);
                prop_assert!(agrees, "the second validator refuses {} under {}", fitted.value, model.schema());
                prop_assert_eq!(fitted.fixes.is_empty(), fitted.value.to_string() == value.to_string());
                let again = fit(fitted.value.clone(), &schema).map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert_eq!(again.value.to_string(), fitted.value.to_string());
                prop_assert!(again.fixes.is_empty());
            }
            Err(error) => {
                prop_assert!(!schema.fits(&value));
                prop_assert_eq!(error.value.to_string(), value.to_string());
                prop_assert!(!error.problems.is_empty());
            }
        }
    }

    #[test]
    fn a_schema_agrees_with_the_validator_on_serde_values((model, value) in (model(), any_json())) {
        let same = value.to_serde();
        // Beyond 64 bits the results may differ: ours is exact.
        prop_assume!(Value::from(same.clone()) == value);
        let theirs = jsonschema::is_valid(&model.schema().to_serde(), &same);
        prop_assert_eq!(compile(&model).fits(&value), theirs, "{} under {}", value, model.schema());
        prop_assert_eq!(compile(&model).problems(&value).is_empty(), theirs);
    }

    #[test]
    fn a_schema_agrees_with_the_validator_on_damaged_values((model, value) in fitting(plain_model()), dice in any::<Dice>()) {
        let value = damaged(&model, &value, &mut dice.clone());
        let theirs = jsonschema::is_valid(&model.schema().to_serde(), &value.to_serde());
        prop_assert_eq!(compile(&model).fits(&value), theirs, "{} under {}", value, model.schema());
        prop_assert_eq!(compile(&model).problems(&value).is_empty(), theirs);
    }

    #[test]
    fn damage_to_one_property_never_changes_another_one((model, value) in fitting(model()), dice in any::<Dice>()) {
        let both = Model::Object(vec![
            model::property("left_side", model.clone(), true),
            model::property("right_side", Model::Integer, true),
        ], model::Extra::Closed);
        let number = if dice.clone().roll(2) == 0 { Value::from("5") } else { Value::from("no number") };
        let object = reknit_protocol::Object::from([("left_side", value.clone()), ("right_side", number)]);
        if let Ok(fitted) = fit(Value::Object(object), &compile(&both)) {
            prop_assert_eq!(fitted.value.get("left_side").map(ToString::to_string), Some(value.to_string()));
        }
    }
}
