//! `--attach`: the files that belong to a request.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use reknit_model_api::Attachment;
use reknit_runtime::config::check_regular_file;

use crate::output::{Failure, Input};
use crate::setup::AttachArguments;

/// Reads the files. Their bytes are stored with the run, so that it continues without them.
pub(crate) fn read_attachments(arguments: &AttachArguments) -> Result<Vec<Attachment>, Failure> {
    arguments.files.iter().map(|path| read_file(path)).collect()
}

fn read_file(path: &Path) -> Result<Attachment, Failure> {
    let input = Input::File(path.to_owned());
    let Some(file) = Attachment::file(path.display().to_string()) else {
        let known: Vec<&str> = Attachment::known_extensions().collect();
        let hint = format!("name a file that ends with one of: {}", known.join(", "));
        return Err(Failure::usage(
            format!("cannot attach {input}: what it contains does not follow from its name"),
            hint,
        ));
    };
    let failed = |source| Failure::Input { input: input.clone(), source };
    check_regular_file(path).map_err(failed)?;
    let mut bytes = Vec::new();
    // One more byte than allowed shows that the file is too long.
    File::open(path).map_err(failed)?.take(Attachment::MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if size > Attachment::MAX_BYTES {
        let message = format!("cannot attach {input}: it is larger than {} MB", Attachment::MAX_BYTES / (1024 * 1024));
        return Err(Failure::usage(message, "attach a part of it"));
    }
    if bytes.is_empty() {
        return Err(Failure::usage(format!("cannot attach {input}: it is empty"), "name another file"));
    }
    let attachment = Attachment::bytes(file.media_type, &bytes);
    Ok(Attachment { name: file.name, ..attachment })
}
