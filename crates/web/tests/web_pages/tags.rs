//! The elements of a page with the names of their attributes, as a browser would find them.

/// Each tag with the names of its attributes, in order. Fails if a page is not as our templates write it.
pub(crate) fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once('<') {
        let mut tag = String::new();
        let mut quoted = false;
        let mut end = None;
        for (at, letter) in after.char_indices() {
            match letter {
                '"' => quoted = !quoted,
                '>' if !quoted => {
                    end = Some(at);
                    break;
                }
                '<' if !quoted => panic!("a tag in a tag: {after:.80}"),
                letter if !quoted => tag.push(letter),
                _ => {}
            }
        }
        let end = end.unwrap_or_else(|| panic!("a tag without an end: {after:.80}"));
        tags.push(tag);
        rest = after.get(end + 1..).unwrap_or_default();
    }
    tags
}

#[test]
fn values_of_attributes_are_left_out() {
    assert_eq!(tags(r#"<a href="x>y"><b></b>text</a>"#), ["a href=", "b", "/b", "/a"]);
}
