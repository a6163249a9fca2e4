//! Tables, as Markdown and as plain text.

/// A table: a head and rows of as many cells.
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(head: &[&str]) -> Table {
        Table {
            head: head.iter().map(|cell| (*cell).to_string()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Adds the rows of the table with the same head in `page`, in place of which this one will
    /// stand, unless a row of this one begins with the same cells.
    pub fn keep_rows_of(&mut self, page: &str, key: usize) {
        let head = line(&self.head);
        let lines = page.lines().skip_while(|l| *l != head).skip(2);
        for old in lines.take_while(|l| l.starts_with('|')) {
            let cells: Vec<String> = old
                .trim_matches('|')
                .split(" | ")
                .map(|cell| cell.trim().to_string())
                .collect();
            if !self
                .rows
                .iter()
                .any(|row| row[..key] == cells[..key.min(cells.len())])
            {
                self.rows.push(cells);
            }
        }
        self.rows.sort_by(|a, b| a[..key].cmp(&b[..key]));
    }

    /// Rows as columns: the first column becomes the head.
    pub fn turned(&self) -> Table {
        let lines: Vec<&Vec<String>> = std::iter::once(&self.head).chain(&self.rows).collect();
        let column = |index: usize| -> Vec<String> {
            lines
                .iter()
                .map(|cells| cells.get(index).cloned().unwrap_or_default())
                .collect()
        };
        Table {
            head: column(0),
            rows: (1..self.head.len()).map(column).collect(),
        }
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut out = line(&self.head);
        out.push_str("\n|");
        out.push_str(&" --- |".repeat(self.head.len()));
        out.push('\n');
        for row in &self.rows {
            out.push_str(&line(row));
            out.push('\n');
        }
        out
    }

    /// As columns of text, for a terminal. Cells are as wide as they have characters.
    pub fn plain(&self) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let width = |column: usize| {
            let cells = lines().filter_map(|cells| cells.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let mut out = String::new();
        for cells in lines() {
            let padded = cells.iter().zip(&widths);
            let padded = padded.map(|(cell, width)| format!("{cell:<width$}"));
            let line = padded.collect::<Vec<_>>().join("  ");
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

fn line(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_an_older_page_are_kept_unless_measured_again() {
        let mut old = Table::new(&["name", "x"]);
        old.row(vec!["b".into(), "1".into()]);
        old.row(vec!["a".into(), "1".into()]);
        let page = format!("# Page\n\n{}\nend\n", old.markdown());
        let mut new = Table::new(&["name", "x"]);
        new.row(vec!["b".into(), "2".into()]);
        new.keep_rows_of(&page, 1);
        assert_eq!(new.plain(), "name  x\na     1\nb     2\n");
        assert_eq!(
            new.turned().markdown(),
            "| name | a | b |\n| --- | --- | --- |\n| x | 1 | 2 |\n"
        );
        assert_eq!(
            new.markdown(),
            "| name | x |\n| --- | --- |\n| a | 1 |\n| b | 2 |\n"
        );
    }
}
