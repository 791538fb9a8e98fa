//! Laws, and the mutants that break them.

/// Condition that holds at every step of every run.
#[derive(Debug)]
pub(crate) struct Law {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    /// Mutants that some seed must catch by this law.
    pub(crate) mutants: &'static [Mutant],
}

/// Fault between the state machine and its world, planted to show that a law is checked.
#[derive(Debug)]
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// Mutant that a run has, if any, and the law that it breaks.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Planted(pub(crate) Option<(&'static Law, &'static Mutant)>);

impl Planted {
    pub(crate) fn is(self, mutant: &Mutant) -> bool {
        self.0.is_some_and(|(_, planted)| planted.name == mutant.name)
    }

    /// Returns whether a run looks for breaches of this law: a mutant may break others beside its own.
    pub(crate) fn concerns(self, law: &str) -> bool {
        self.0.is_none_or(|(own, _)| own.name == law)
    }
}

/// Declares laws, each with its mutants in braces, and the list `LAWS` of them.
macro_rules! laws {
    ($($law:ident $name:literal: $text:literal {
        $($mutant:ident $mutant_name:literal: $mutant_text:literal;)+
    })+) => {
        $(
            pub(super) const $law: $crate::simulate::law::Law =
                $crate::simulate::law::Law { name: $name, text: $text, mutants: &[$($mutant),+] };
            $(pub(super) const $mutant: $crate::simulate::law::Mutant =
                $crate::simulate::law::Mutant { name: $mutant_name, text: $mutant_text };)+
        )+
        pub(super) const LAWS: &[$crate::simulate::law::Law] = &[$($law),+];
    };
}

pub(crate) use laws;
