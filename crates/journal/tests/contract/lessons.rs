//! What runs learn from each other.

use reknit_journal::{Append, AppendError, Lesson};

use crate::kit::{event, leased, stores};

fn lesson(parameter: &str, expression: &str) -> Lesson {
    let (producer, consumer) = ("stock/quote".to_owned(), "money/convert".to_owned());
    Lesson { producer, consumer, parameter: parameter.to_owned(), expression: expression.to_owned() }
}

fn append(len: u64, at_ms: i64, lessons: Vec<Lesson>) -> Append {
    Append { lessons, ..Append::at(len).event(event(at_ms)) }
}

#[tokio::test]
async fn the_newest_lesson_comes_first_and_takes_the_place_of_an_older_one() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        assert_eq!(store.journal.lessons(9).await.unwrap(), [], "{}", store.name);
        let both = vec![lesson("b", "it.b"), lesson("a", "it[\"odd 'key'\"]")];
        store.journal.append(&lease, append(1, 10, both)).await.unwrap();
        let in_order = [lesson("a", "it[\"odd 'key'\"]"), lesson("b", "it.b")];
        assert_eq!(store.journal.lessons(9).await.unwrap(), in_order, "{}", store.name);
        store.journal.append(&lease, append(2, 20, vec![lesson("b", "it.data.b")])).await.unwrap();
        let newest = [lesson("b", "it.data.b"), in_order[0].clone()];
        assert_eq!(store.journal.lessons(9).await.unwrap(), newest, "{}", store.name);
        assert_eq!(store.journal.lessons(1).await.unwrap(), newest[..1], "{}", store.name);
    }
}

#[tokio::test]
async fn nothing_is_learned_from_what_is_not_written() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let refused = store.journal.append(&lease, append(7, 10, vec![lesson("a", "it.a")])).await;
        assert!(matches!(refused, Err(AppendError::Conflict { .. })), "{}: {refused:?}", store.name);
        assert_eq!(store.journal.lessons(9).await.unwrap(), [], "{}", store.name);
    }
}
