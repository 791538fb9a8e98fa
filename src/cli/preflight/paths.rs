//! Whether a path can be written, without writing.

use std::{io, path::Path};

use zeitnot_clients::Written;

/// Fails with what the user has to do.
pub(super) fn check(path: &Written) -> Result<(), String> {
    match path {
        Written::File(path) => check_file(path),
        Written::Folder(path) => check_folder(path),
    }
}

fn check_file(path: &Path) -> Result<(), String> {
    let shown = path.display();
    if path.is_dir() {
        return Err(format!("{shown} is a folder: name a file"));
    }
    if path.exists() {
        return may_write(path)
            .map_err(|error| format!("{shown} cannot be written: {error}; name another file"));
    }
    let folder = folder_of(path);
    let why = match may_write(folder) {
        Ok(()) if folder.is_dir() => return Ok(()),
        Ok(()) => "it is a file".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "it does not exist".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!(
        "{shown} cannot be made in {}: {why}; make that folder, or name another file",
        folder.display()
    ))
}

fn check_folder(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let exists = path.ancestors().map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path });
    let Some(there) = exists.into_iter().find(|path| path.exists()) else { return Ok(()) };
    if !there.is_dir() {
        return Err(format!(
            "{shown} cannot be a folder: {} is a file; name another folder",
            there.display()
        ));
    }
    let at = there.display();
    may_write(there).map_err(|error| format!("{shown} cannot be written: {at}: {error}; name another folder"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn may_write(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?)
}

#[cfg(not(unix))]
fn may_write(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path)?.permissions().readonly() {
        true => Err(io::ErrorKind::PermissionDenied.into()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn paths_that_can_be_written_and_others() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        let of = |path: &[&str]| path.iter().fold(home.path().to_owned(), |path, name| path.join(name));
        for path in [&["file"][..], &["new"]] {
            assert_eq!(check(&Written::File(of(path))), Ok(()), "{path:?}");
        }
        for path in [&[][..], &["new"], &["new", "newer"]] {
            assert_eq!(check(&Written::Folder(of(path))), Ok(()), "{path:?}");
        }
        assert_eq!(check(&Written::File("relative".into())), Ok(()));
        assert_eq!(check(&Written::Folder("relative".into())), Ok(()));
        for (path, why) in [
            (Written::File(of(&[])), "is a folder: name a file"),
            (Written::File(of(&["new", "file"])), "it does not exist; make that folder"),
            (Written::File(of(&["file", "file"])), "make that folder, or name another file"),
            (Written::Folder(file.clone()), "is a file; name another folder"),
            (Written::Folder(of(&["file", "new"])), "is a file; name another folder"),
        ] {
            let told = check(&path).unwrap_err();
            assert!(told.contains(why), "{path:?}: {told}");
        }
    }
}
