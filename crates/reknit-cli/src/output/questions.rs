//! Questions to the person at the terminal, in `init` and `test --update`.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::output::{Failure, one_line, print_message};

/// Asks at the terminal, or answers with yes and the defaults.
pub(crate) struct Questions {
    yes: bool,
    is_terminal: bool,
}

impl Questions {
    pub(crate) fn new(yes: bool) -> Self {
        Self { yes, is_terminal: io::stdin().is_terminal() && io::stderr().is_terminal() }
    }

    /// The place of the chosen option, of which there is at least one. The first one is the default, and is taken if nobody can be asked.
    pub(crate) fn choose(&self, question: &str, options: &[String]) -> Result<usize, Failure> {
        if self.yes || !self.is_terminal || options.len() < 2 {
            return Ok(0);
        }
        print_message(&format!("{question}\n"));
        for (place, option) in options.iter().enumerate() {
            print_message(&format!("  {}. {}\n", place + 1, one_line(option, usize::MAX)));
        }
        loop {
            let answer = read_answer(&format!("1 to {} [1]: ", options.len()))?;
            if answer.is_empty() {
                return Ok(0);
            }
            match answer.parse::<usize>() {
                Ok(place @ 1..) if place <= options.len() => return Ok(place - 1),
                _ => print_message(&format!("write a number from 1 to {}\n", options.len())),
            }
        }
    }

    /// Whether the person agrees. `hint` says what to type if nobody can be asked.
    pub(crate) fn confirm(&self, question: &str, hint: &str) -> Result<bool, Failure> {
        if self.yes {
            return Ok(true);
        }
        if !self.is_terminal {
            return Err(Failure::usage("nobody can be asked, because this is no terminal", hint));
        }
        let answer = read_answer(&format!("{question} (yes or no) "))?;
        Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
    }
}

fn read_answer(prompt: &str) -> Result<String, Failure> {
    print_message(prompt);
    let mut answer = String::new();
    let read = io::stderr().flush().and_then(|()| io::stdin().lock().read_line(&mut answer)).map_err(Failure::Write)?;
    // The end of the input: the person has pressed Ctrl-D.
    if read == 0 { Err(Failure::Interrupted) } else { Ok(answer.trim().to_owned()) }
}
