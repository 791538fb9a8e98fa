//! Values of `--tune`: which options of an engine are tuned, and within which range.

use zeitnot_engine::ExternalEngine;
use zeitnot_external::Program;
use zeitnot_matches::spsa::Parameter;

use crate::cli::CliError;

/// Part of the range by which an option is perturbed if no step was given.
const STEPS: i64 = 20;

/// Parses the parameters. What is not given is as the engine says.
pub(super) fn parse(texts: &[String], program: &Program) -> Result<Vec<Parameter>, CliError> {
    let mut parameters: Vec<Parameter> = Vec::with_capacity(texts.len());
    for text in texts {
        let parameter =
            one(text, program).map_err(|why| CliError::Usage(format!("--tune '{text}': {why}")))?;
        if parameters.iter().any(|other| other.name.eq_ignore_ascii_case(&parameter.name)) {
            return Err(CliError::Usage(format!("--tune '{text}': {} is given twice", parameter.name)));
        }
        parameters.push(parameter);
    }
    Ok(parameters)
}

/// Parses `NAME`, `NAME=STEP` or `NAME=START,MIN,MAX,STEP`.
fn one(text: &str, program: &Program) -> Result<Parameter, String> {
    let (name, numbers) = text.split_once('=').unwrap_or((text, ""));
    let Some(spin) = program.spin(name) else {
        let all = program.options().filter(|option| program.spin(option).is_some());
        let all = all.collect::<Vec<_>>().join(", ");
        return Err(format!("{} has no number of this name; it has: {all}", program.title()));
    };
    let numbers: Result<Vec<i32>, _> =
        numbers.split(',').filter(|_| !numbers.is_empty()).map(|number| number.trim().parse()).collect();
    let usual_step = spin.max.saturating_sub(spin.min) / STEPS;
    let as_told = || -> Option<[i32; 3]> {
        Some([spin.default.try_into().ok()?, spin.min.try_into().ok()?, spin.max.try_into().ok()?])
    };
    let usual = as_told().ok_or("its range is too large: expected NAME=START,MIN,MAX,STEP");
    let ([start, min, max], step) = match numbers.as_deref() {
        Ok([]) => (usual?, i32::try_from(usual_step).unwrap_or(i32::MAX).max(1)),
        Ok([step]) => (usual?, *step),
        Ok([start, min, max, step]) => ([*start, *min, *max], *step),
        _ => return Err("expected NAME, NAME=STEP or NAME=START,MIN,MAX,STEP, in whole numbers".into()),
    };
    let allowed = spin.min..=spin.max;
    if !(allowed.contains(&min.into()) && allowed.contains(&max.into()) && (min..=max).contains(&start)) {
        let (least, most) = allowed.into_inner();
        return Err(format!("expected a start between MIN and MAX, and these from {least} to {most}"));
    }
    match u32::try_from(step) {
        Ok(step) if step > 0 => Ok(Parameter { name: name.to_owned(), start, min, max, step }),
        _ => Err("expected a step of 1 or more".into()),
    }
}
