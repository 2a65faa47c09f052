//! The registry of services in Redis: services write a record of themselves and renew it, others list the records.
//!
//! ```text
//! Registration::start -> <namespace>:services:<id>, expires unless it is renewed -> Registry::list -> ServiceRecord
//! ```
//!
//! The keys and the records are those of `GoMind`, so that services and clients of both can share one registry.
//!
//! ```no_run
//! use reknit_registry::{Namespace, RedisUrl, Registry};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::new(RedisUrl::parse("redis://127.0.0.1:6379")?, Namespace::default());
//! for service in registry.list().await?.services {
//!     println!("{} at {}", service.name, service.base_url()?);
//! }
//! # Ok(())
//! # }
//! ```

mod advertised_address;
mod key_layout;
mod redis_url;
mod registration;
mod registration_options;
mod registry;
mod service_record;

pub use advertised_address::{AdvertisedAddress, AdvertisedAddressError};
pub use key_layout::{Namespace, NamespaceError};
pub use redis_url::{RedisUrl, RedisUrlError};
pub use registration::{DEFAULT_TTL, Registration, RegistrationStatus};
pub use registration_options::{RegistrationOptions, RegistrationOptionsError};
pub use registry::{RecordProblem, RegisteredServices, Registry, RegistryError};
pub use service_record::{Health, RecordError, ServiceRecord, ServiceType};
