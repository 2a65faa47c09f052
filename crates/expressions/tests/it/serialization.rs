//! Serialization for the journal.

use reknit_expressions::{Backing, BoundParameters, Provenance, UnboundParameter, ValueChange};

use crate::support::{Results, bind_json, bound, schema, unbound};

#[test]
fn bound_parameters_survive_with_every_digit() {
    let results = Results::new(r#"{"a": {"n": 123456789012345678901234567890.10, "odd key": [0.5]}}"#);
    let plan = r#"{"e": "{{1 * a[\"odd key\"][0]}}", "r": "{{a.n}}", "t": "n {{a.n}}", "l": 1.0, "n": ["{{a[\"odd key\"]}}"]}"#;
    let schema = schema(r#"{"required": ["n2"], "properties": {"n2": {}, "l": {"type": "string"}}}"#);
    let with_wired_field =
        Results::new(r#"{"a": {"n": 123456789012345678901234567890.10, "odd key": [0.5], "n2": 5}}"#);
    for binding in [bind_json(plan, &results, None), bind_json(plan, &with_wired_field, Some(&schema))] {
        let bound = bound(binding);
        let text = serde_json::to_string(&bound).expect("it serializes");
        let back: BoundParameters = serde_json::from_str(&text).expect("it parses");
        assert_eq!(back, bound);
        assert!(text.contains("123456789012345678901234567890.10"), "{text}");
        assert_eq!(serde_json::to_string(&back).expect("it serializes"), text);
    }
}

#[test]
fn the_json_of_provenance_is_readable() {
    let results = Results::new(r#"{"quote": {"price": 468.285}}"#);
    let bound = bound(bind_json(r#"{"amount": "{{100 * quote.price}}", "symbol": "TSLA"}"#, &results, None));
    insta::assert_snapshot!(serde_json::to_string_pretty(&bound).expect("it serializes"), @r#"
    {
      "parameters": {"amount":46828.5,"symbol":"TSLA"},
      "provenance": [
        [
          "amount",
          {
            "expression": {
              "text": "100 * quote.price",
              "inputs": [
                {
                  "source": "literal",
                  "value": 100
                },
                {
                  "source": {
                    "reference": {
                      "step": "quote",
                      "path": "$.price"
                    }
                  },
                  "value": 468.285
                }
              ],
              "exact": "exact"
            }
          }
        ],
        [
          "symbol",
          "literal"
        ]
      ],
      "changes": []
    }
    "#);
    let backings = [Backing::Known, Backing::Inferred, Backing::Explained { text: "100 * a.price".to_owned() }];
    let corrected = |backing| Provenance::Corrected { rung: "context".to_owned(), backing };
    for provenance in backings.map(corrected).into_iter().chain([Provenance::Inferred]) {
        let text = serde_json::to_string(&provenance).expect("it serializes");
        assert_eq!(serde_json::from_str::<Provenance>(&text).expect("it parses"), provenance);
    }
}

#[test]
fn unbound_reasons_survive() {
    let results = Results::new(r#"{"a": {"n": 1, "l": [], "none": null, "data": {"n": 2}}}"#).failed("b").skipped("c");
    let plan = r#"{"1": "{{a.x}}", "2": "{{a.l[0]}}", "3": "{{a.n}}", "4": "{{b}}", "5": "{{c}}", "6": "x{{a.none}}",
                   "7": "{{1 / 0}}", "8": "x{{a.l}}", "9": "{{a.none.x}}"}"#;
    let unbound = unbound(bind_json(plan, &results, None));
    assert_eq!(unbound.len(), 9);
    let text = serde_json::to_string(&unbound).expect("it serializes");
    // Journals of earlier versions contain these names.
    for written in [r#"{"null":{"what":"a.none"}}"#, r#"{"fault":{"expression":"1 / 0","fault":"division_by_zero"}}"#] {
        assert!(text.contains(written), "{text}");
    }
    assert_eq!(serde_json::from_str::<Vec<UnboundParameter>>(&text).expect("it parses"), unbound);
}

#[test]
fn an_invalid_path_is_rejected() {
    let text = r#"{"path": "items[0]", "kind": "x", "before": "", "after": ""}"#;
    let error = serde_json::from_str::<ValueChange>(text).expect_err("not a path");
    assert!(error.to_string().contains("`items[0]` is not a path"), "{error}");
}
