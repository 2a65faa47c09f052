//! The registry of services in Redis: services write a record of themselves and renew it, others list the records.
//!
//! ```text
//! Registration::start -> <namespace>:services:<id>, expires unless it is renewed -> Registry::list -> ServiceRecord
//! ```
//!
//! The keys and the records are those of `GoMind`, so that services and clients of both can share one registry.
//!
//! Without the feature `redis` there are only the addresses and the records.
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

#![cfg_attr(not(feature = "redis"), expect(dead_code, reason = "records are only read and written with Redis"))]

mod location;
#[cfg(feature = "redis")]
mod registration;
#[cfg(feature = "redis")]
mod registration_options;
#[cfg(feature = "redis")]
mod registry;
mod service_record;

pub use location::{Namespace, NamespaceError, RedisUrl, RedisUrlError};
#[cfg(feature = "redis")]
pub use registration::{DEFAULT_TTL, Registration, RegistrationStatus};
#[cfg(feature = "redis")]
pub use registration_options::{
    AdvertisedAddress, AdvertisedAddressError, RegistrationOptions, RegistrationOptionsError,
};
#[cfg(feature = "redis")]
pub use registry::{RecordProblem, RegisteredServices, Registry, RegistryError};
pub use service_record::{Health, RecordError, ServiceRecord, ServiceType};
