//! Valid JSON documents of several kinds, the same in every run.

use serde_json::{Value, json};

use crate::random::Random;

/// A document, in one text or several.
pub struct Document {
    pub name: &'static str,
    pub texts: Vec<String>,
}

const SIZE: usize = 1_000_000;

/// All documents, about 1 MB each.
pub fn documents() -> Vec<Document> {
    let one = |name, text| Document { name, texts: vec![text] };
    vec![
        one("tweets", pretty(&records(SIZE, 1700, tweet))),
        one("numbers", records(SIZE, 115, numbers).to_string()),
        one("strings", escaped(&records(SIZE, 1600, strings).to_string())),
        one("nested", records(SIZE, 205, nested).to_string()),
        Document { name: "calls of 500 bytes", texts: items(SIZE, 500, call).iter().map(Value::to_string).collect() },
    ]
}

/// Records like those of an API: about `size` bytes of compact JSON.
pub fn rows(size: usize) -> Value {
    records(size, 205, row)
}

fn records(size: usize, each: usize, make: fn(&mut Random) -> Value) -> Value {
    Value::Array(items(size, each, make))
}

fn items(size: usize, each: usize, make: fn(&mut Random) -> Value) -> Vec<Value> {
    let mut random = Random(7);
    (0..size / each).map(|_| make(&mut random)).collect()
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

/// Writes some characters as escapes, like many serializers do.
fn escaped(text: &str) -> String {
    text.replace('ü', "\\u00fc").replace('😀', "\\ud83d\\ude00").replace('/', "\\/")
}

fn tweet(random: &mut Random) -> Value {
    let name = random.sentence(2);
    json!({
        "created_at": "Sun Aug 31 00:29:15 +0000 2014",
        "id": random.next() >> 8,
        "text": random.sentence(14),
        "source": "<a href=\"https://example.com/app\" rel=\"nofollow\">app</a>",
        "truncated": false,
        "in_reply_to_user_id": null,
        "user": {
            "id": random.below(2_000_000_000),
            "name": name,
            "screen_name": format!("user_{}", random.below(100_000)),
            "location": random.pick(&["Zürich", "東京", "Paris", ""]),
            "description": random.sentence(10),
            "protected": false,
            "followers_count": random.below(10_000),
            "utc_offset": null,
            "verified": random.below(10) == 0,
            "profile_image_url": format!("http://example.com/images/{}.png", random.below(100_000)),
        },
        "geo": { "lat": random.below(180_000) as f64 / 1000.0 - 90.0, "lon": random.below(360_000) as f64 / 1000.0 },
        "retweet_count": random.below(100),
        "entities": { "hashtags": [random.sentence(1)], "urls": [], "indices": [random.below(9), random.below(140)] },
        "favorited": false,
        "lang": "ja",
    })
}

fn numbers(random: &mut Random) -> Value {
    let mut list: Vec<Value> = (0..8).map(|_| json!(random.below(100_000))).collect();
    list.extend((0..3).map(|_| json!((random.next() >> 11) as f64 / (1_u64 << 53) as f64)));
    list.push(json!(-(random.below(1000) as f64) / 100.0));
    list.push(json!(random.next() >> 8));
    Value::Array(list)
}

fn strings(random: &mut Random) -> Value {
    let mut text = String::new();
    for _ in 0..10 {
        text.push_str(&random.sentence(20));
        text.push_str(random.pick(&["\n", "\t", " \"quoted\" ", " C:\\path ", " a/b "]));
    }
    Value::String(text)
}

fn nested(random: &mut Random) -> Value {
    let mut value = json!({ "id": random.below(1000) });
    for level in 0..16 {
        value = if level % 4 == 3 { json!([value, null]) } else { json!({ "kind": "node", "child": value }) };
    }
    value
}

fn call(random: &mut Random) -> Value {
    json!({
        "name": "weather.forecast",
        "arguments": {
            "request_id": format!("{:016x}", random.next()),
            "city": random.pick(&["Zürich", "東京", "Paris"]),
            "latitude": random.below(90_000) as f64 / 1000.0,
            "longitude": random.below(180_000) as f64 / 1000.0,
            "days": random.below(14),
            "units": "metric",
            "include": ["temperature", "wind", "rain"],
            "options": { "hourly": true, "language": "en", "alerts": null },
            "reason": random.sentence(28),
        }
    })
}

fn row(random: &mut Random) -> Value {
    json!({
        "id": random.below(1_000_000),
        "name": random.sentence(3),
        "price": random.below(100_000) as f64 / 100.0,
        "active": random.below(2) == 0,
        "parent": null,
        "tags": ["new", random.sentence(1)],
        "position": { "lat": random.below(90_000) as f64 / 1000.0, "note": random.sentence(4) },
    })
}
