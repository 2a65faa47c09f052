//! Mappings that runs learned.

use reknit_journal::{Append, AppendError, StoredMapping};

use crate::support::{event, leased, stores};

fn mapping(parameter: &str, expression: &str) -> StoredMapping {
    let (producer, consumer) = ("stock/quote".to_owned(), "money/convert".to_owned());
    StoredMapping { producer, consumer, parameter: parameter.to_owned(), expression: expression.to_owned() }
}

fn append(len: u64, at_ms: i64, learned_mappings: Vec<StoredMapping>) -> Append {
    Append { learned_mappings, ..Append::at(len).event(event(at_ms)) }
}

#[tokio::test]
async fn the_newest_mapping_comes_first_and_replaces_an_older_one() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        assert_eq!(store.journal.learned_mappings(9).await.unwrap(), [], "{}", store.name);
        let both = vec![mapping("b", "it.b"), mapping("a", "it[\"odd 'key'\"]")];
        store.journal.append(&lease, append(1, 10, both)).await.unwrap();
        let in_order = [mapping("a", "it[\"odd 'key'\"]"), mapping("b", "it.b")];
        assert_eq!(store.journal.learned_mappings(9).await.unwrap(), in_order, "{}", store.name);
        store.journal.append(&lease, append(2, 20, vec![mapping("b", "it.data.b")])).await.unwrap();
        let newest = [mapping("b", "it.data.b"), in_order[0].clone()];
        assert_eq!(store.journal.learned_mappings(9).await.unwrap(), newest, "{}", store.name);
        assert_eq!(store.journal.learned_mappings(1).await.unwrap(), newest[..1], "{}", store.name);
    }
}

#[tokio::test]
async fn a_refused_append_stores_no_mapping() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let refused = store.journal.append(&lease, append(7, 10, vec![mapping("a", "it.a")])).await;
        assert!(matches!(refused, Err(AppendError::Conflict { .. })), "{}: {refused:?}", store.name);
        assert_eq!(store.journal.learned_mappings(9).await.unwrap(), [], "{}", store.name);
    }
}
