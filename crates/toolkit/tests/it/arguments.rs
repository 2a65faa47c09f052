//! What is said about arguments that do not fit.

use crate::support::bank;

#[tokio::test]
async fn arguments_that_fit_arrive_digit_for_digit() {
    let (_running, caller, _) = bank().await;
    let answer = caller.call("echo", r#"{"to":"bob","amount":46828.50000000000000000000001}"#).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.body,
        r#"{"success":true,"data":{"to":"bob","amount":46828.50000000000000000000001,"times":null,"speed":"slow","legs":[]}}"#
    );
}

#[tokio::test]
async fn a_whole_number_may_be_spelt_with_a_point_or_an_exponent() {
    let (_running, caller, _) = bank().await;
    for spelling in ["3", "3.0", "3e0", "0.3e1"] {
        let answer = caller.call("echo", &format!(r#"{{"to":"bob","amount":1,"times":{spelling}}}"#)).await;
        assert_eq!(answer.status, 200, "{spelling}: {}", answer.body);
        assert!(answer.body.contains(r#""times":3,"#), "{spelling}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_is_invalid_and_not_worth_another_try() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to": bob}"#).await.shown(), @r#"
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
async fn a_missing_field_is_named_with_what_is_expected() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to":"bob"}"#).await.shown(), @r#"
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
async fn a_value_of_another_kind_is_named_with_both_kinds() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to":"bob","amount":"12.5"}"#).await.shown(), @r#"
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
async fn an_unknown_field_is_named_with_the_one_that_may_be_meant() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to":"bob","amount":1,"sped":"fast"}"#).await.shown(), @r#"
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
async fn a_value_that_is_not_listed_or_out_of_bounds_is_told_the_rule() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to":"bob","amount":1,"speed":"warp"}"#).await.shown(), @r#"
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
    insta::assert_snapshot!(caller.call("echo", r#"{"to":"bob","amount":1,"times":0}"#).await.shown(), @r#"
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
async fn several_faults_are_all_told_and_a_missing_field_comes_first() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("echo", r#"{"to":5,"amout":1,"legs":[{"bank":"x","fee":"1"}]}"#).await.shown(), @r#"
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
            "there is no field `amout`",
            "`legs[0].fee` must be a number or null, not a string"
          ]
        }
      }
    }
    "#);
}

#[tokio::test]
async fn parameters_that_are_no_object_are_told_so() {
    let (_running, caller, _) = bank().await;
    let answer = caller.call("echo", r#"["bob", 1]"#).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_FORMAT"));
    assert_eq!(answer.error().message, "`parameters` must be an object, not an array");
}

#[tokio::test]
async fn what_only_the_type_knows_is_told_in_its_own_words() {
    let (_running, caller, _) = bank().await;
    let answer = caller.call("echo", r#"{"to":"bob","amount":1,"legs":[{"bank":"x","fee":1e999}]}"#).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_FORMAT"));
    assert!(answer.error().message.contains("number out of range"), "{}", answer.body);
}
