//! The frame of every page: its head with style sheet and script, the navigation and the place for messages; tables.

use std::sync::LazyLock;

use maud::{DOCTYPE, Markup, html};
use reknit_protocol::{Sha256, hex, word_enum};

pub const STYLE: &str = include_str!("../assets/style.css");
/// The script of every page. Without it pages are read and used, but not live.
pub const SCRIPT: &str = include_str!("../assets/script.js");

/// A name for the content of style sheet and script: a browser keeps them until it changes.
fn asset_version() -> &'static str {
    static VERSION: LazyLock<String> =
        LazyLock::new(|| hex(&Sha256::digest([STYLE, SCRIPT].concat().as_bytes())).chars().take(12).collect());
    &VERSION
}

word_enum! {
    /// The colours of a page, named as in the cookie and the style sheet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Theme {
        #[default]
        System = "system",
        Light = "light",
        Dark = "dark",
    }
}

impl Theme {
    fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }
}

/// What every page has beside its own content.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageFrame<'a> {
    pub theme: Theme,
    /// The address of the page, with its query.
    pub here: &'a str,
    /// Who has signed in; `None` without tokens.
    pub caller: Option<&'a str>,
    pub questions: usize,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
    pub may_run: bool,
    pub may_approve: bool,
    /// Whether the reader may see all runs and decide about learned rules.
    pub may_administer: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Runs,
    Questions,
    New,
    Tools,
    Models,
    Statistics,
    Rules,
    Other,
}

const TABS: [(Tab, &str, &str); 7] = [
    (Tab::Runs, "/", "Runs"),
    (Tab::Questions, "/questions", "Questions"),
    (Tab::New, "/new", "New"),
    (Tab::Tools, "/tools", "Tools"),
    (Tab::Models, "/models", "Models"),
    (Tab::Statistics, "/stats", "Statistics"),
    (Tab::Rules, "/rules", "Rules"),
];

/// A page with its frame. `live` is the address of the stream that says when the page has changed.
pub(crate) fn framed(frame: &PageFrame<'_>, title: &str, tab: Tab, live: Option<&str>, content: &Markup) -> Markup {
    let version = asset_version();
    html! {
        (DOCTYPE)
        html lang="en" data-theme=(frame.theme.as_str()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Reknit" }
                link rel="icon" href="/ui/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href={"/ui/style.css?v=" (version)};
                script src={"/ui/script.js?v=" (version)} defer {}
            }
            body {
                a.skip href="#main" { "Skip to content" }
                (navigation(frame, tab))
                p #status role="status" aria-live="polite" {}
                main #main tabindex="-1" data-live=[live] { (content) }
                (keys())
            }
        }
    }
}

fn navigation(frame: &PageFrame<'_>, tab: Tab) -> Markup {
    html! {
        header.top {
            a.name href="/" { "Reknit" }
            nav #nav aria-label="Pages" {
                @for (own, path, word) in TABS.into_iter().filter(|(tab, ..)| *tab != Tab::Rules || frame.may_administer) {
                    a href=(path) aria-current=[(own == tab).then_some("page")] {
                        (word)
                        @if own == Tab::Questions && frame.questions > 0 { " " span.count { (frame.questions) } }
                    }
                }
            }
            div.side {
                form method="post" action="/ui/theme" {
                    input type="hidden" name="to" value=(frame.theme.next().as_str());
                    input type="hidden" name="back" value=(frame.here);
                    button.quiet type="submit" title="Change the colours" {
                        "Theme: " (frame.theme.as_str())
                    }
                }
                @if let Some(caller) = frame.caller {
                    form method="post" action="/sign-out" {
                        button.quiet type="submit" { "Sign out " (crate::outside_text::one_line(caller, 24)) }
                    }
                }
            }
        }
    }
}

/// The keys that the script knows. The script shows it; without a script there are no keys.
fn keys() -> Markup {
    let keys = [
        ("j, k", "next, previous"),
        ("Enter", "open"),
        ("Esc", "close"),
        ("g r", "go to the runs"),
        ("/", "search"),
        ("?", "these keys"),
    ];
    html! {
        dialog #keys aria-label="Keys" {
            h2 { "Keys" }
            dl { @for (key, meaning) in keys { dt { kbd { (key) } } dd { (meaning) } } }
            form method="dialog" { button type="submit" { "Close" } }
        }
    }
}

/// A table that scrolls if it is wide. A column is its title; one that begins with `#` has numbers, one with `=` a chart.
pub(crate) fn table(class: &str, columns: &[&str], body: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Table" {
            table class=(class) {
                thead { tr { @for column in columns { (column_head(column)) } } }
                tbody { (body) }
            }
        }
    }
}

fn column_head(column: &str) -> Markup {
    match (column.strip_prefix('#'), column.strip_prefix('=')) {
        (Some(number), _) => html! { th.number scope="col" { (number) } },
        (_, Some(chart)) => html! { th.chart-column scope="col" { (chart) } },
        (None, None) => html! { th scope="col" { (column) } },
    }
}
