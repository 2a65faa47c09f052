//! Errors about parameters that do not fit the schema.

use crate::support::bank;

#[tokio::test]
async fn valid_arguments_keep_every_digit() {
    let (_running, caller, _) = bank().await;
    let answer = caller.call("echo", r#"{"to":"bob","amount":46828.50000000000000000000001}"#).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.body,
        r#"{"success":true,"data":{"to":"bob","amount":46828.50000000000000000000001,"times":null,"speed":"slow","legs":[]}}"#
    );
}

#[tokio::test]
async fn an_integer_may_be_written_with_a_point_or_an_exponent() {
    let (_running, caller, _) = bank().await;
    for spelling in ["3", "3.0", "3e0", "0.3e1"] {
        let answer = caller.call("echo", &format!(r#"{{"to":"bob","amount":1,"times":{spelling}}}"#)).await;
        assert_eq!(answer.status, 200, "{spelling}: {}", answer.body);
        assert!(answer.body.contains(r#""times":3,"#), "{spelling}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_body_that_is_not_json_is_invalid_and_not_retryable() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to": bob}"#).await.to_snapshot(), @r#"
    400
    {
      "success": false,
      "error": {
        "code": "INVALID_REQUEST",
        "message": "the body is not JSON: line 1, column 8: expected a value, found `b`",
        "category": "INPUT_ERROR",
        "retryable": false,
        "details": {
          "hint": "send the parameters as one JSON object"
        }
      }
    }
    "#);
    for body in ["", "not json", r#"{"to":"a","to":"b"}"#, "{} {}"] {
        let answer = caller.call("echo", body).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"), "body: {body}");
        assert_eq!(answer.error().retryable.as_bool(), Some(false), "body: {body}");
    }
}

#[tokio::test]
async fn a_missing_field_is_reported_with_its_type_and_an_example() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to":"bob"}"#).await.to_snapshot(), @r#"
    400
    {
      "success": false,
      "error": {
        "code": "MISSING_REQUIRED_FIELD",
        "message": "`amount` is required",
        "category": "INPUT_ERROR",
        "retryable": true,
        "details": {
          "field": "amount",
          "expected": "number",
          "example": 12.5,
          "hint": "send `amount` as a number, for example 12.5"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn a_value_of_the_wrong_type_is_reported_with_both_types() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to":"bob","amount":"12.5"}"#).await.to_snapshot(), @r#"
    400
    {
      "success": false,
      "error": {
        "code": "INVALID_FORMAT",
        "message": "`amount` must be a number, not a string",
        "category": "INPUT_ERROR",
        "retryable": true,
        "details": {
          "field": "amount",
          "expected": "number",
          "actual": "string",
          "example": 12.5,
          "hint": "send `amount` as a number, for example 12.5"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn an_unknown_field_is_reported_with_a_suggestion() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to":"bob","amount":1,"sped":"fast"}"#).await.to_snapshot(), @r#"
    400
    {
      "success": false,
      "error": {
        "code": "INVALID_FORMAT",
        "message": "there is no field `sped`",
        "category": "INPUT_ERROR",
        "retryable": true,
        "details": {
          "field": "sped",
          "did_you_mean": "speed",
          "fields": [
            "to",
            "amount",
            "times",
            "speed",
            "legs"
          ],
          "hint": "did you mean `speed`?"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn a_value_outside_a_list_or_range_is_reported_with_the_rule() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to":"bob","amount":1,"speed":"warp"}"#).await.to_snapshot(), @r#"
    400
    {
      "success": false,
      "error": {
        "code": "INVALID_FORMAT",
        "message": "`speed` must be one of \"slow\", \"fast\"",
        "category": "INPUT_ERROR",
        "retryable": true,
        "details": {
          "field": "speed",
          "allowed": [
            "slow",
            "fast"
          ],
          "actual": "warp",
          "hint": "send one of \"slow\", \"fast\""
        }
      }
    }
    "#);
    insta::assert_snapshot!(caller.call("echo", r#"{"to":"bob","amount":1,"times":0}"#).await.to_snapshot(), @r#"
    400
    {
      "success": false,
      "error": {
        "code": "INVALID_FORMAT",
        "message": "`times` must be at least 1",
        "category": "INPUT_ERROR",
        "retryable": true,
        "details": {
          "field": "times",
          "expected": "at least 1",
          "actual": 0,
          "hint": "send a value that is at least 1"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn all_problems_are_listed_and_a_missing_field_comes_first() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to":5,"amout":1,"legs":[{"bank":"x","fee":"1"}]}"#).await.to_snapshot(), @r#"
    400
    {
      "success": false,
      "error": {
        "code": "MISSING_REQUIRED_FIELD",
        "message": "`amount` is required",
        "category": "INPUT_ERROR",
        "retryable": true,
        "details": {
          "field": "amount",
          "expected": "number",
          "example": 12.5,
          "hint": "send `amount` as a number, for example 12.5",
          "problems": [
            "`amount` is required",
            "`to` must be a string, not a number",
            "`legs[0].fee` must be a number or null, not a string",
            "there is no field `amout`"
          ]
        }
      }
    }
    "#);
}

#[tokio::test]
async fn parameters_that_are_not_an_object_are_rejected() {
    let (_running, caller, _) = bank().await;
    let answer = caller.call("echo", r#"["bob", 1]"#).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_FORMAT"));
    assert_eq!(answer.error().message, "`parameters` must be an object, not an array");
}

#[tokio::test]
async fn a_value_that_only_serde_refuses_is_rejected_with_the_message_of_serde() {
    let (_running, caller, _) = bank().await;
    let answer = caller.call("echo", r#"{"to":"bob","amount":1,"legs":[{"bank":"x","fee":1e999}]}"#).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_FORMAT"));
    assert!(answer.error().message.contains("number out of range"), "{}", answer.body);
}
