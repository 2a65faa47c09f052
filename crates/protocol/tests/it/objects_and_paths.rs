//! Objects, paths and JSON Pointers.

use crate::parse;
use reknit_protocol::{Object, Path, PointerError, Segment, Value, ValueKind};

fn object(text: &str) -> Object {
    parse(text).as_object().expect("the test's own object").clone()
}

#[test]
fn inserting_and_removing_keeps_the_order_of_the_others() {
    let mut object = object(r#"{"a":1,"b":2,"c":3,"d":4}"#);
    assert_eq!(object.insert("b", 5), Some(Value::from(2)));
    assert_eq!(object.insert("e", 6), None);
    assert_eq!(object.remove("a"), Some(Value::from(1)));
    assert_eq!(object.remove("a"), None);
    assert_eq!(object.to_string(), r#"{"b":5,"c":3,"d":4,"e":6}"#);
    assert_eq!(object.keys().collect::<Vec<_>>(), ["b", "c", "d", "e"]);
    assert_eq!(object.values().rev().cloned().collect::<Vec<_>>(), [6, 4, 3, 5].map(Value::from));
}

#[test]
fn renaming_keeps_position_and_value_and_never_overwrites() {
    let mut object = object(r#"{"a":1,"b":2,"c":3}"#);
    assert!(object.rename("b", "B"));
    assert!(!object.rename("b", "x"), "the key no longer exists");
    assert!(!object.rename("B", "c"), "the name is taken");
    assert!(object.rename("a", "a"), "renaming a key to its own name succeeds");
    assert_eq!(object.to_string(), r#"{"a":1,"B":2,"c":3}"#);
    assert_eq!(object.get("B"), Some(&Value::from(2)));
    assert_eq!(object.get("b"), None);
}

#[test]
fn equality_ignores_order_and_nothing_else() {
    assert_eq!(object(r#"{"a":1,"b":[1,2]}"#), object(r#"{"b":[1,2.0],"a":1}"#));
    assert_ne!(parse("[1,2]"), parse("[2,1]"));
    assert_ne!(object(r#"{"a":null}"#), object("{}"), "null is not absent");
    assert_ne!(parse("1"), parse("\"1\""));
    assert_ne!(parse("0"), parse("false"));
}

#[test]
fn values_can_be_changed_in_place() {
    let mut value = parse(r#"{"a":[{"b":1}],"c":2}"#);
    let path = Path::root().key("a").index(0).key("b");
    *value.at_mut(&path).expect("it is there") = Value::from("x");
    for (_, entry) in value.as_object_mut().expect("it is an object") {
        if let Some(items) = entry.as_array_mut() {
            items.push(Value::Null);
        }
    }
    *value.get_mut("c").expect("it is there") = Value::from(true);
    assert_eq!(value.to_string(), r#"{"a":[{"b":"x"},null],"c":true}"#);
}

#[test]
fn only_the_accessor_of_its_own_kind_returns_a_value() {
    let value = parse(r#"[null,true,1,"x",[],{}]"#);
    let items = value.as_array().expect("it is an array");
    let kinds: Vec<_> = items.iter().map(Value::kind).collect();
    assert_eq!(
        kinds,
        [
            ValueKind::Null,
            ValueKind::Boolean,
            ValueKind::Number,
            ValueKind::String,
            ValueKind::Array,
            ValueKind::Object
        ]
    );
    let names: Vec<_> = kinds.iter().map(ValueKind::to_string).collect();
    assert_eq!(names, ["null", "boolean", "number", "string", "array", "object"]);
    let accessed = |value: &Value| {
        [
            value.is_null(),
            value.as_bool().is_some(),
            value.as_number().is_some(),
            value.as_str().is_some(),
            value.as_array().is_some(),
            value.as_object().is_some(),
        ]
    };
    for (index, item) in items.iter().enumerate() {
        let expected: [bool; 6] = std::array::from_fn(|accessor| accessor == index);
        assert_eq!(accessed(item), expected, "{item}");
    }
    assert_eq!(Value::default(), Value::Null);
}

#[test]
fn a_path_prints_unambiguously() {
    let root = Path::root();
    for (path, text, pointer) in [
        (root.clone(), "$", ""),
        (root.key("a").index(0).key("b_1"), "$.a[0].b_1", "/a/0/b_1"),
        (root.key("straße"), "$.straße", "/straße"),
        (root.key("odd key"), r#"$["odd key"]"#, "/odd key"),
        (root.key("0"), r#"$["0"]"#, "/0"),
        (root.key(""), r#"$[""]"#, "/"),
        (root.key("a.b"), r#"$["a.b"]"#, "/a.b"),
        (root.key("say \"hi\"\n"), r#"$["say \"hi\"\n"]"#, "/say \"hi\"\n"),
        (root.key("a/b~c"), r#"$["a/b~c"]"#, "/a~1b~0c"),
    ] {
        assert_eq!(path.to_string(), text);
        assert_eq!(format!("{path:?}"), text);
        assert_eq!(path.to_pointer(), pointer);
    }
}

#[test]
fn a_path_grows_and_shrinks() {
    let mut path = Path::root();
    path.push_key("a");
    path.push_index(3);
    assert_eq!(path.segments(), [Segment::Key("a".to_owned()), Segment::Index(3)]);
    assert_eq!(path.pop(), Some(Segment::Index(3)));
    assert_eq!(path, Path::root().key("a"));
    assert_eq!(path.pop(), Some(Segment::Key("a".to_owned())));
    assert_eq!(path.pop(), None);
    assert!(path.is_root());
    assert_eq!([Segment::Index(1)].into_iter().collect::<Path>().to_string(), "$[1]");
}

#[test]
fn a_path_outside_the_value_finds_nothing() {
    let value = parse(r#"{"a":[1],"0":2}"#);
    let root = Path::root();
    assert_eq!(value.at(&root), Some(&value));
    assert_eq!(value.at(&root.key("0")), Some(&Value::from(2)));
    for path in [root.key("b"), root.index(0), root.key("a").index(1), root.key("a").key("0"), root.key("0").key("x")] {
        assert_eq!(value.at(&path), None, "{path}");
    }
}

#[test]
fn a_pointer_is_resolved_against_its_value() {
    let value = parse(r#"{"a":[{"0":[1,2]}],"m~n":{"x/y":1},"":2}"#);
    for (pointer, path) in
        [("", "$"), ("/a/0/0/1", r#"$.a[0]["0"][1]"#), ("/m~0n/x~1y", r#"$["m~n"]["x/y"]"#), ("/", r#"$[""]"#)]
    {
        assert_eq!(Path::from_pointer(pointer, &value).map(|path| path.to_string()), Ok(path.to_owned()));
    }
    for (pointer, message) in [
        ("a", "a pointer must be empty or start with `/`"),
        ("/m~2n", "`~` must be followed by 0 or 1 in `m~2n`"),
        ("/m~", "`~` must be followed by 0 or 1 in `m~`"),
        ("/a/1", "there is no `1` at `$.a`"),
        ("/a/00", "there is no `00` at `$.a`"),
        ("/a/-", "there is no `-` at `$.a`"),
        ("/a/+0", "there is no `+0` at `$.a`"),
        ("/b", "there is no `b` at `$`"),
        ("/a/0/0/0/x", r#"there is no `x` at `$.a[0]["0"][0]`"#),
    ] {
        let error: PointerError = Path::from_pointer(pointer, &value).expect_err(pointer);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn an_object_behaves_the_same_with_few_and_with_many_keys() {
    for size in [1, 2, 15, 16, 17, 18, 40] {
        let name = |index: usize| format!("key {index}");
        let full: Object = (0..size).map(|index| (name(index), Value::from(index))).collect();
        assert_eq!(full.len(), size);
        assert_eq!(full, full.iter().rev().map(|(key, value)| (key.to_owned(), value.clone())).collect::<Object>());
        assert_eq!(full.clone().into_iter().map(|(key, _)| key).collect::<Vec<_>>(), full.keys().collect::<Vec<_>>());

        let mut object = full.clone();
        assert_eq!(object.insert_null(name(0)), Err(name(0)), "size {size}");
        assert_eq!(object.insert(name(0), "first"), Some(Value::from(0)), "size {size}");
        assert_ne!(object, full, "size {size}");
        *object.get_mut(&name(0)).expect("it is there") = Value::from(0);
        assert_eq!(object, full, "size {size}");

        assert!(!object.rename("absent", "new"), "size {size}");
        assert_eq!(object.rename(&name(0), name(size - 1)), size == 1, "the name of another key is taken; size {size}");
        assert!(object.rename(&name(0), "new"), "size {size}");
        assert_eq!(object.keys().next(), Some("new"), "a renamed key keeps its position; size {size}");
        assert_eq!(object.remove("new"), Some(Value::from(0)), "size {size}");
        assert!(object.keys().eq((1..size).map(name)), "the others keep their order; size {size}");

        *object.insert_null("late".to_owned()).expect("it is new") = Value::from(true);
        assert_eq!(object.iter().next_back(), Some(("late", &Value::from(true))), "size {size}");
    }
}
