//! What is written to a journal reads back.

use reknit_bind::{Backing, Bound, Change, Provenance, Unbound};

use crate::kit::{Results, bound, bound_to, schema, unbound};

#[test]
fn bound_parameters_survive_with_every_digit() {
    let results = Results::new(r#"{"a": {"n": 123456789012345678901234567890.10, "odd key": [0.5]}}"#);
    let plan = r#"{"e": "{{1 * a[\"odd key\"][0]}}", "r": "{{a.n}}", "t": "n {{a.n}}", "l": 1.0, "n": ["{{a[\"odd key\"]}}"]}"#;
    let under = schema(r#"{"required": ["n2"], "properties": {"n2": {}, "l": {"type": "string"}}}"#);
    let with_wire = Results::new(r#"{"a": {"n": 123456789012345678901234567890.10, "odd key": [0.5], "n2": 5}}"#);
    for binding in [bound_to(plan, &results, None), bound_to(plan, &with_wire, Some(&under))] {
        let bound = bound(binding);
        let text = serde_json::to_string(&bound).expect("it can be written");
        let back: Bound = serde_json::from_str(&text).expect("it can be read");
        assert_eq!(back, bound);
        assert!(text.contains("123456789012345678901234567890.10"), "{text}");
        assert_eq!(serde_json::to_string(&back).expect("it can be written"), text);
    }
}

#[test]
fn provenance_is_readable() {
    let results = Results::new(r#"{"quote": {"price": 468.285}}"#);
    let bound = bound(bound_to(r#"{"amount": "{{100 * quote.price}}", "symbol": "TSLA"}"#, &results, None));
    insta::assert_snapshot!(serde_json::to_string_pretty(&bound).expect("it can be written"), @r#"
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
        let text = serde_json::to_string(&provenance).expect("it can be written");
        assert_eq!(serde_json::from_str::<Provenance>(&text).expect("it can be read"), provenance);
    }
}

#[test]
fn reasons_survive() {
    let results = Results::new(r#"{"a": {"n": 1, "l": [], "none": null, "data": {"n": 2}}}"#).failed("b").skipped("c");
    let plan = r#"{"1": "{{a.x}}", "2": "{{a.l[0]}}", "3": "{{a.n}}", "4": "{{b}}", "5": "{{c}}", "6": "x{{a.none}}",
                   "7": "{{1 / 0}}", "8": "x{{a.l}}", "9": "{{a.none.x}}"}"#;
    let unbound = unbound(bound_to(plan, &results, None));
    assert_eq!(unbound.len(), 9);
    let text = serde_json::to_string(&unbound).expect("it can be written");
    assert_eq!(serde_json::from_str::<Vec<Unbound>>(&text).expect("it can be read"), unbound);
}

#[test]
fn a_path_that_is_none_is_refused() {
    let text = r#"{"path": "items[0]", "kind": "x", "before": "", "after": ""}"#;
    let error = serde_json::from_str::<Change>(text).expect_err("it is no path");
    assert!(error.to_string().contains("`items[0]` is not a path"), "{error}");
}
