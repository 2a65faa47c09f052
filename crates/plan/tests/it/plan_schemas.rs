//! The JSON Schema of plans.

use reknit_plan::{Catalogue, PlanLanguage, plan_json_schema};

use crate::support::json;

#[test]
fn a_catalogue_of_up_to_forty_capabilities_has_a_schema_of_plans() {
    for (count, has_schema) in [(0, false), (1, true), (40, true), (41, false)] {
        let capabilities: Vec<String> = (0..count).map(|number| format!(r#"{{"name": "c{number}"}}"#)).collect();
        let catalogue = Catalogue::from_value(&json(&format!(r#"{{"tool": [{}]}}"#, capabilities.join(", "))));
        let schema = plan_json_schema(&catalogue.expect("a catalogue"), PlanLanguage::Controls);
        assert_eq!(schema.is_some(), has_schema, "{count}");
    }
}
