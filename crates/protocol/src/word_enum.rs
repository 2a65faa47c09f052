//! Enums whose variants are words in JSON, settings and messages.

/// Defines an enum with one word for each variant, and implements `ALL`, `as_str`, `from_word` and `Display` for it.
///
/// ```
/// reknit_protocol::word_enum! {
///     /// The state of a light.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     pub enum Light {
///         /// It is on.
///         On = "on",
///         /// It is off.
///         Off = "off",
///     }
/// }
/// assert_eq!(Light::On.to_string(), "on");
/// assert_eq!(Light::from_word("off"), Some(Light::Off));
/// ```
#[macro_export]
macro_rules! word_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The word for this variant.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The variant for a word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|variant| variant.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(self.as_str())
            }
        }
    };
}
