//! Requests of every kind, from the words of a model to the tool that must be called rightly in the end: what the tools
//! received and what the models were asked is all that counts.

mod computing;
mod correcting;
mod planning;
mod scene;
