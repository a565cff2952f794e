//! Text with Markdown in it, as HTML: the notes of the reproduction.

use crate::draw::svg::escaped;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// The paragraphs, lists, emphasis and code of `markdown`. Links are text: a page
/// refers to no other file. HTML in it is text, too.
pub(super) fn html(markdown: &str) -> String {
    Parser::new(markdown).map(element).collect()
}

fn element(event: Event) -> String {
    match event {
        Event::Start(tag) => opening(&tag).to_owned(),
        Event::End(tag) => closing(tag).to_owned(),
        Event::Code(text) => format!("<code>{}</code>", escaped(&text)),
        Event::SoftBreak | Event::HardBreak => " ".to_owned(),
        Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => escaped(&text),
        _ => String::new(),
    }
}

fn opening(tag: &Tag) -> &'static str {
    match tag {
        Tag::Paragraph => "<p>",
        Tag::List(_) => "<ul>",
        Tag::Item => "<li>",
        Tag::Emphasis => "<em>",
        Tag::Strong => "<b>",
        _ => "",
    }
}

fn closing(tag: TagEnd) -> &'static str {
    match tag {
        TagEnd::Paragraph => "</p>",
        TagEnd::List(_) => "</ul>",
        TagEnd::Item => "</li>",
        TagEnd::Emphasis => "</em>",
        TagEnd::Strong => "</b>",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_elements_and_all_else_is_text() {
        assert_eq!(
            html("a *b* `c<d` **e**, [f](g.md)\nh < i"),
            "<p>a <em>b</em> <code>c&lt;d</code> <b>e</b>, f h &lt; i</p>"
        );
        assert_eq!(
            html("- x: <b>\n- y"),
            "<ul><li>x: &lt;b&gt;</li><li>y</li></ul>"
        );
    }
}
