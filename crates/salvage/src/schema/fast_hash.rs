//! Maps and sets for texts of outside.

use foldhash::fast::RandomState;

/// A map and a set with a fast hash that outside text cannot attack.
pub(super) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
pub(super) type HashSet<K> = std::collections::HashSet<K, RandomState>;
