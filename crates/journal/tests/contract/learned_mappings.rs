//! Mappings that runs learned.

use reknit_journal::{Append, AppendError, Journal, StoredMapping};

use crate::support::{event, leased, leased_by, stores};

fn mapping(parameter: &str, expression: &str) -> StoredMapping {
    let (producer, consumer) = ("stock/quote".to_owned(), "money/convert".to_owned());
    StoredMapping { producer, consumer, parameter: parameter.to_owned(), expression: expression.to_owned() }
}

fn append(len: u64, at_ms: i64, learned_mappings: Vec<StoredMapping>) -> Append {
    Append { learned_mappings, ..Append::at(len).event(event(at_ms)) }
}

async fn learned(journal: &Journal, limit: u32) -> Vec<StoredMapping> {
    journal.learned_mappings(limit).await.unwrap().into_iter().map(|learned| learned.mapping).collect()
}

async fn accepted(journal: &Journal) -> Vec<Option<i64>> {
    journal.learned_mappings(9).await.unwrap().into_iter().map(|learned| learned.accepted_ms).collect()
}

#[tokio::test]
async fn the_newest_mapping_comes_first_and_replaces_an_older_one() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        assert_eq!(learned(&store.journal, 9).await, [], "{}", store.name);
        let both = vec![mapping("b", "it.b"), mapping("a", "it[\"odd 'key'\"]")];
        store.journal.append(&lease, append(1, 10, both)).await.unwrap();
        let in_order = [mapping("a", "it[\"odd 'key'\"]"), mapping("b", "it.b")];
        assert_eq!(learned(&store.journal, 9).await, in_order, "{}", store.name);
        store.journal.append(&lease, append(2, 20, vec![mapping("b", "it.data.b")])).await.unwrap();
        let newest = [mapping("b", "it.data.b"), in_order[0].clone()];
        assert_eq!(learned(&store.journal, 9).await, newest, "{}", store.name);
        assert_eq!(learned(&store.journal, 1).await, newest[..1], "{}", store.name);
    }
}

#[tokio::test]
async fn nobody_learns_from_the_runs_of_another_owner_unless_a_person_has_accepted_it() {
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let known = async |owner: Option<&str>| {
            let known = journal.learned_mappings_of(owner, 9).await.unwrap();
            known.into_iter().map(|learned| learned.mapping).collect::<Vec<_>>()
        };
        let (ann, nobody) = (leased_by(journal, "a", "ann").await, leased(journal, "n").await);
        let (of_ann, of_nobody) = (mapping("a", "it.ann"), mapping("a", "it.nobody"));
        journal.append(&ann, append(1, 10, vec![of_ann.clone()])).await.unwrap();
        journal.append(&nobody, append(1, 10, vec![of_nobody.clone()])).await.unwrap();
        assert_eq!(known(Some("ann")).await, std::slice::from_ref(&of_ann), "{name}");
        assert_eq!(known(None).await, std::slice::from_ref(&of_nobody), "{name}");
        assert_eq!(known(Some("bob")).await, [], "{name}");
        assert!(journal.accept_mapping(&of_nobody, 20).await.unwrap(), "{name}");
        assert_eq!(known(Some("bob")).await, [of_nobody], "{name}");
    }
}

#[tokio::test]
async fn a_refused_append_stores_no_mapping() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let refused = store.journal.append(&lease, append(7, 10, vec![mapping("a", "it.a")])).await;
        assert!(matches!(refused, Err(AppendError::Conflict { .. })), "{}: {refused:?}", store.name);
        assert_eq!(learned(&store.journal, 9).await, [], "{}", store.name);
    }
}

#[tokio::test]
async fn a_mapping_is_inferred_until_it_is_accepted_and_then_not_replaced() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let (old, new) = (mapping("a", "it.a"), mapping("a", "it.evil"));
        store.journal.append(&lease, append(1, 10, vec![old.clone()])).await.unwrap();
        // A call that succeeds again accepts nothing.
        store.journal.append(&lease, append(2, 20, vec![old.clone(), mapping("b", "it.b")])).await.unwrap();
        assert_eq!(accepted(&store.journal).await, [None, None], "{}", store.name);
        assert!(!store.journal.accept_mapping(&new, 30).await.unwrap(), "{}: it is not there", store.name);
        assert!(store.journal.accept_mapping(&old, 30).await.unwrap(), "{}", store.name);
        assert!(
            store.journal.accept_mapping(&old, 40).await.unwrap(),
            "{}: accepting twice changes nothing",
            store.name
        );
        store.journal.append(&lease, append(3, 50, vec![new.clone()])).await.unwrap();
        assert_eq!(learned(&store.journal, 9).await, [old.clone(), mapping("b", "it.b")], "{}", store.name);
        assert_eq!(accepted(&store.journal).await, [Some(30), None], "{}", store.name);
    }
}

#[tokio::test]
async fn a_forgotten_mapping_is_gone_and_can_be_learned_again_as_inferred() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let known = mapping("a", "it.a");
        store.journal.append(&lease, append(1, 10, vec![known.clone()])).await.unwrap();
        assert!(store.journal.accept_mapping(&known, 20).await.unwrap(), "{}", store.name);
        assert!(!store.journal.forget_mapping(&mapping("a", "it.b")).await.unwrap(), "{}", store.name);
        assert!(store.journal.forget_mapping(&known).await.unwrap(), "{}", store.name);
        assert!(!store.journal.forget_mapping(&known).await.unwrap(), "{}", store.name);
        store.journal.append(&lease, append(2, 30, vec![known.clone()])).await.unwrap();
        assert_eq!(accepted(&store.journal).await, [None], "{}", store.name);
    }
}

#[test]
fn the_id_of_a_mapping_depends_on_every_field() {
    let one = mapping("a", "it.a");
    let other = StoredMapping { producer: format!("{}m", one.producer), ..one.clone() };
    let shifted = StoredMapping { consumer: "oney/convert".to_owned(), ..other.clone() };
    let mut ids = vec![one.id(), other.id(), shifted.id(), mapping("b", "it.a").id(), mapping("a", "it.b").id()];
    assert!(ids.iter().all(|id| id.len() == 10), "{ids:?}");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5, "{ids:?}");
}
