//! Reading and decoding single notes.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use lorewell_testkit::TempVault;
use lorewell_text::NotePath;
use lorewell_vault::{Encoding, NoteFile, ReadError, Rules, Vault, decode};
use proptest::prelude::*;

fn read(vault: &TempVault, path: &str) -> Result<NoteFile, ReadError> {
    Vault::open(vault.root())
        .unwrap()
        .read(&NotePath::new(path))
}

fn utf16(text: &str, mark: bool, bytes_of: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let mark = mark.then_some(0xFEFF);
    mark.into_iter()
        .chain(text.encode_utf16())
        .flat_map(bytes_of)
        .collect()
}

#[test]
fn a_note_is_its_text_and_the_digest_of_its_bytes() {
    let vault = TempVault::new("=== f/a.md ===\nZwölf\r\nlines\n");
    let note = read(&vault, "f/a.md").unwrap();
    assert_eq!(note.text, "Zwölf\r\nlines\n");
    assert_eq!(
        note.content_hash,
        *blake3::hash(&vault.bytes("f/a.md")).as_bytes()
    );
    assert_eq!(
        (note.encoding, note.warnings.len(), note.size),
        (Encoding::Utf8, 0, 14)
    );
    let listing = Vault::open(vault.root())
        .unwrap()
        .list(&Rules::default())
        .unwrap();
    let entry = &listing.notes[0];
    assert_eq!(
        (entry.size, entry.modified_ns, entry.changed_ns, entry.inode),
        (note.size, note.modified_ns, note.changed_ns, note.inode)
    );
    vault.write("empty.md", "");
    assert_eq!(read(&vault, "empty.md").unwrap().text, "");
}

#[test]
fn no_path_leads_out_of_the_vault() {
    let vault = TempVault::new(
        "=== in.md ===\nx\n=== sub/a.md ===\n=== image.png ===\n=== d.md/x.md ===\n",
    );
    std::fs::write(vault.beside("secret.md"), "OUTSIDE").unwrap();
    let absolute = vault.path("in.md").display().to_string();
    for (path, code) in [
        ("../secret.md", "outside_vault"),
        ("sub/../../secret.md", "outside_vault"),
        ("sub/../in.md", "outside_vault"),
        ("..\\secret.md", "outside_vault"),
        ("./in.md", "outside_vault"),
        ("sub//a.md", "outside_vault"),
        ("", "outside_vault"),
        ("/etc/hostname.md", "outside_vault"),
        (absolute.as_str(), "outside_vault"),
        ("in.md\0.png", "outside_vault"),
        ("file:///etc/hostname.md", "outside_vault"),
        ("%2e%2e/secret.md", "not_found"),
        ("in.md/x.md", "not_found"),
        ("none.md", "not_found"),
        ("image.png", "not_a_note"),
        ("d.md", "not_a_file"),
    ] {
        let error = read(&vault, path).unwrap_err();
        assert_eq!(error.code(), code, "{path:?}: {error}");
        assert!(!error.hint().is_empty());
    }
    assert!(read(&vault, "d.md/x.md").is_ok());
    let opened = Vault::open(vault.root()).unwrap();
    std::fs::remove_dir_all(vault.root()).unwrap();
    assert_eq!(
        opened.read(&NotePath::new("in.md")).unwrap_err().code(),
        "vault_missing"
    );
}

#[cfg(unix)]
#[test]
fn links_are_read_only_where_they_stand_for_a_file_of_the_vault() {
    let vault = TempVault::new("=== in.md ===\nx\n=== plain.txt ===\ntext\n");
    std::fs::write(vault.beside("secret.md"), "OUTSIDE").unwrap();
    for (target, link) in [
        ("../secret.md", "out.md"),
        ("..", "up"),
        ("in.md", "alias.md"),
        ("plain.txt", "text.md"),
    ] {
        std::os::unix::fs::symlink(target, vault.path(link)).unwrap();
    }
    assert_eq!(read(&vault, "out.md").unwrap_err().code(), "outside_vault");
    assert_eq!(
        read(&vault, "up/secret.md").unwrap_err().code(),
        "outside_vault"
    );
    assert_eq!(read(&vault, "up/vault/in.md").unwrap_err().code(), "link");
    assert_eq!(read(&vault, "alias.md").unwrap_err().code(), "link");
    assert_eq!(read(&vault, "text.md").unwrap().text, "text\n");
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_in_the_cloud_or_too_large_is_not_read() {
    let vault = TempVault::new("=== .Cloud.md.icloud ===\nstub\n=== big.md ===\n123456789\n");
    std::fs::File::create(vault.path("away.md"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let opened = Vault::open(vault.root()).unwrap().with_max_bytes(8);
    for (path, code) in [
        ("away.md", "placeholder"),
        ("Cloud.md", "placeholder"),
        ("big.md", "too_large"),
    ] {
        assert_eq!(
            opened.read(&NotePath::new(path)).unwrap_err().code(),
            code,
            "{path}"
        );
    }
}

#[test]
fn each_encoding_is_told_from_the_bytes() {
    use Encoding::{Legacy, Utf8, Utf8Bom, Utf8Lossy, Utf16Be, Utf16Le};
    let text = "Größe: 44 cm\nΩ\n";
    let russian = "Это заметка о гончарной печи и втором обжиге.";
    let chinese = "第二次烧制的温度记录\n釉料 44 克，星期六再烧\n";
    let japanese = "窯の温度を記録する。二回目の焼成は土曜日。";
    let legacy =
        |encoding: &'static encoding_rs::Encoding, text| encoding.encode(text).0.into_owned();
    let broken = [text.as_bytes(), b"\xff\n"].concat();
    for (bytes, encoding, read_as, warned) in [
        (text.into(), Utf8, text, false),
        (b"\xef\xbb\xbfx".to_vec(), Utf8Bom, "\u{feff}x", false),
        (utf16(text, true, u16::to_le_bytes), Utf16Le, text, false),
        (utf16(text, true, u16::to_be_bytes), Utf16Be, text, false),
        (utf16(text, false, u16::to_le_bytes), Utf16Le, text, true),
        (utf16(text, false, u16::to_be_bytes), Utf16Be, text, true),
        (
            utf16(russian, false, u16::to_le_bytes),
            Utf16Le,
            russian,
            true,
        ),
        (
            utf16(chinese, false, u16::to_be_bytes),
            Utf16Be,
            chinese,
            true,
        ),
        (b"\xff\xfea\0b".to_vec(), Utf16Le, "a\u{fffd}", true),
        (b"\xff\xfe".to_vec(), Utf16Le, "", false),
        (broken, Utf8Lossy, "Größe: 44 cm\nΩ\n\u{fffd}\n", true),
        (
            b"caf\xe9 au lait, na\xefve".to_vec(),
            Legacy("windows-1252"),
            "café au lait, naïve",
            true,
        ),
        (
            legacy(encoding_rs::WINDOWS_1251, russian),
            Legacy("windows-1251"),
            russian,
            true,
        ),
        (
            legacy(encoding_rs::GBK, chinese),
            Legacy("GBK"),
            chinese,
            true,
        ),
        (
            legacy(encoding_rs::SHIFT_JIS, japanese),
            Legacy("Shift_JIS"),
            japanese,
            true,
        ),
        (
            b"\x1b[31mred\x1b[0m\x0c".to_vec(),
            Utf8,
            "\u{1b}[31mred\u{1b}[0m\u{c}",
            false,
        ),
    ] {
        let got = decode(bytes.clone()).unwrap();
        assert_eq!(
            (got.text.as_str(), got.encoding),
            (read_as, encoding),
            "{bytes:?}"
        );
        assert_eq!(
            !got.warnings.is_empty(),
            warned,
            "{bytes:?}: {:?}",
            got.warnings
        );
        assert_eq!(
            encoding.keeps_bytes(),
            got.text.as_bytes() == bytes,
            "{bytes:?}"
        );
    }
}

#[test]
fn warnings_say_where() {
    let got = decode(b"one\ntwo caf\xe9".to_vec()).unwrap();
    assert_eq!(
        got.warnings,
        ["not valid UTF-8 from byte 11 (line 2): read as windows-1252"]
    );
}

#[test]
fn what_is_no_text_is_refused() {
    let png = (0x89..=0xff).chain(0..0x89).collect::<Vec<u8>>();
    for bytes in [
        b"before\0after lathe\n".to_vec(),
        b"\0\0\0\0".to_vec(),
        png,
        (1..=255).collect(),
        b"\xff\xfe\0\0x\0\0\0".to_vec(),
    ] {
        assert!(decode(bytes.clone()).is_err(), "{bytes:?}");
    }
    let vault = TempVault::new("=== nul.md ===\na\0b\n");
    let error = read(&vault, "nul.md").unwrap_err();
    assert_eq!(error.reason().map(|r| r.code()), Some("binary"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_text_or_refused_and_utf_8_is_itself(
        bytes in prop_oneof![
            any::<Vec<u8>>(),
            prop::collection::vec(1u8..=255, 0..64),
            ".{0,40}".prop_map(String::into_bytes),
            ".{0,40}".prop_map(|s| utf16(&s, false, u16::to_le_bytes)),
        ]
    ) {
        match decode(bytes.clone()) {
            Ok(got) if got.encoding.keeps_bytes() => prop_assert_eq!(got.text.as_bytes(), &bytes),
            Ok(got) => prop_assert!(!got.text.contains('\0')),
            Err(_) => prop_assert!(bytes.contains(&0) || std::str::from_utf8(&bytes).is_err()),
        }
    }

    #[test]
    fn utf_8_without_nul_keeps_its_bytes(text in "[^\u{0}]{0,80}") {
        let got = decode(text.clone().into_bytes()).unwrap();
        prop_assert!(got.encoding.keeps_bytes() && got.warnings.is_empty());
        prop_assert_eq!(got.text, text);
    }

    #[test]
    fn marked_utf_16_is_its_text(text in "[^\u{0}]{0,80}", big in any::<bool>()) {
        let bytes = utf16(&text, true, if big { u16::to_be_bytes } else { u16::to_le_bytes });
        prop_assert_eq!(decode(bytes).unwrap().text, text);
    }
}
