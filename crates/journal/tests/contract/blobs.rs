//! Blobs.

use reknit_journal::{Append, Holder, NewEvent};

use crate::support::{leased, new_run, stores, term};

#[tokio::test]
async fn long_values_are_read_back_byte_for_byte() {
    let long = "ä1.00 \\\"quoted\\\" ".repeat(5_000);
    let list = "1.10, ".repeat(20_000);
    let bodies = [
        format!(r#"{{"body":"{long}","id":123456789012345678901234567890,"price":0.10}}"#),
        format!(r#"{{ "tool_answered" : {{"list":[{list}1e2], "same":"{long}"}}, "b":"{long}" }}"#),
        format!(r#"{{"same":1,"same":[{list}0]}}"#),
        "9".repeat(100_000),
        format!("not JSON [[[ \"{long}"),
    ];
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        for (len, body) in (1..).zip(&bodies) {
            let append = Append::at(len).event(NewEvent::new(0, "test", body));
            store.journal.append(&lease, append).await.unwrap();
        }
        let events = store.journal.events(lease.run(), 1).await.unwrap();
        assert!(events.iter().map(|event| &event.body).eq(&bodies), "{}", store.name);
    }
}

#[tokio::test]
async fn a_long_value_in_event_0_is_read_back() {
    let body = format!(r#"{{"catalogue":"{}"}}"#, "x".repeat(50_000));
    for store in stores() {
        let mut run = new_run("r");
        run.first = NewEvent::new(0, "started", &body);
        store.journal.create(run, &Holder::this_process(), term(0)).await.unwrap();
        assert_eq!(store.journal.events(&"r".into(), 0).await.unwrap()[0].body, body, "{}", store.name);
    }
}
