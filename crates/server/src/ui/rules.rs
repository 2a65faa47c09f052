//! Learned rules: a page with what speaks for and against each, and forms to accept and reject them.

use std::sync::Arc;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use reknit_mend::LearnedRule;
use reknit_runtime::{RuleReview, RuleReviewError, RuleStore, RuleStoreError};
use reknit_web::{ListedRule, RuleCase, RuleList, rules_page};

use super::page::{Fields, PageContext, PageResult, show};
use crate::api_error::{ApiError, with_causes};

/// How many of the newest runs speak for and against rules. Each is restored once for each of its states.
const JUDGED_RUNS: u32 = 200;

/// The most cases for or against a rule that are shown.
const MAX_CASES: usize = 10;

async fn review(context: &PageContext) -> Result<RuleReview, ApiError> {
    let store = context.runtime().rule_store().cloned();
    let journal = context.journal();
    RuleReview::load(journal, store.as_deref(), JUDGED_RUNS, &context.ui.lessons).await.map_err(|error| match error {
        RuleReviewError::Rules(error) => unusable(&error),
        RuleReviewError::Journal(error) => error.into(),
    })
}

fn unusable(error: &RuleStoreError) -> ApiError {
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", with_causes(error))
}

pub(super) async fn page(context: PageContext) -> PageResult {
    let review = review(&context).await?;
    let list = RuleList {
        rules: review.rules.iter().map(|rule| listed(rule, &review)).collect(),
        file: context.runtime().rule_store().map(|store| store.path().display().to_string()),
        runs: JUDGED_RUNS,
        unread: review.unread,
    };
    Ok(show(rules_page(&context.frame().await?, &list)))
}

fn listed(rule: &LearnedRule, review: &RuleReview) -> ListedRule {
    let (verdicts, savings) = (rule.evaluate(&review.lessons), review.savings(rule));
    let cases = |places: &[String]| {
        let shown = places.iter().take(MAX_CASES).filter_map(|place| case(rule, review, place)).collect();
        (places.len(), shown)
    };
    ListedRule {
        helps: cases(&verdicts.helps),
        harms: cases(&verdicts.harms),
        model_calls: savings.model_calls,
        uses: savings.uses,
        saved: savings.saved,
        rule: rule.clone(),
    }
}

fn case(rule: &LearnedRule, review: &RuleReview, place: &str) -> Option<RuleCase> {
    let lesson = review.lesson(place)?;
    let (run, step) = place.split_once('/')?;
    Some(RuleCase {
        run: run.to_owned(),
        step: step.to_owned(),
        rejected: lesson.call.parameters.clone(),
        accepted: lesson.corrected.clone(),
        by_rule: rule.apply(&lesson.call)?.parameters,
    })
}

/// A person accepts a rule. Runs that start from now on use it.
pub(super) async fn accept(context: PageContext, rule: Path<String>, form: Fields) -> PageResult {
    change(context, rule, form, RuleStore::accept).await
}

/// A person rejects a rule. It is not proposed again.
pub(super) async fn reject(context: PageContext, rule: Path<String>, form: Fields) -> PageResult {
    change(context, rule, form, RuleStore::reject).await
}

async fn change(
    context: PageContext,
    Path(id): Path<String>,
    form: Fields,
    change: fn(&RuleStore, &LearnedRule) -> Result<bool, RuleStoreError>,
) -> PageResult {
    let changed = || ApiError::conflict("the rule has changed since the page showed it; look at it again");
    let review = review(&context).await?;
    let rule = review.rules.into_iter().find(|rule| rule.id == id);
    let rule = rule.ok_or_else(|| ApiError::not_found(format!("there is no rule `{id}`")))?;
    if form.get("seen") != rule.version() {
        return Err(changed());
    }
    let store = context.runtime().rule_store().map(Arc::clone);
    let store = store.ok_or_else(|| ApiError::conflict("no file for rules is configured; set `rules.file`"))?;
    // Another process may hold the file.
    let written = tokio::task::spawn_blocking(move || change(&store, &rule)).await;
    let is_seen = written.map_err(|error| ApiError::invalid(error.to_string()))?.map_err(|error| unusable(&error))?;
    if is_seen { Ok(Redirect::to("/rules").into_response()) } else { Err(changed()) }
}
