//! Check of JSON against the schemas of an OpenAPI document: as much of JSON Schema as ours uses.

use serde_json::Value;

pub struct Schemas(pub Value);

impl Schemas {
    /// The schema of an endpoint's answer.
    pub fn answer(&self, path: &str, status: u16) -> &Value {
        let answers = &self.0["paths"][path]["get"]["responses"];
        &answers[status.to_string()]["content"]["application/json"]["schema"]
    }

    pub fn named(&self, name: &str) -> &Value {
        &self.0["components"]["schemas"][name]
    }

    /// Reason why a value does not fit; `None` if it does.
    pub fn fault(&self, schema: &Value, value: &Value) -> Option<String> {
        if let Some(to) = schema["$ref"].as_str() {
            let named = self.named(to.rsplit('/').next().unwrap());
            assert!(named.is_object(), "there is no schema {to}");
            return self.fault(named, value);
        }
        if let Some(all) = schema["allOf"].as_array() {
            return all.iter().find_map(|part| self.fault(part, value));
        }
        if let Some(one) = schema["oneOf"].as_array() {
            let fits = one.iter().filter(|part| self.fault(part, value).is_none()).count();
            return (fits != 1).then(|| format!("{fits} of {} alternatives fit {value}", one.len()));
        }
        if let Some(values) = schema["enum"].as_array()
            && !values.contains(value)
        {
            return Some(format!("{value} is none of {values:?}"));
        }
        let types = match &schema["type"] {
            Value::Array(types) => types.clone(),
            Value::Null => Vec::new(),
            one => vec![one.clone()],
        };
        let is = |kind: &Value| match kind.as_str().unwrap() {
            "null" => value.is_null(),
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            other => panic!("the type {other}"),
        };
        if !types.is_empty() && !types.iter().any(is) {
            return Some(format!("{value} is not {types:?}"));
        }
        self.fault_inside(schema, value)
    }

    fn fault_inside(&self, schema: &Value, value: &Value) -> Option<String> {
        let missing = schema["required"].as_array().into_iter().flatten();
        let missing =
            missing.filter_map(Value::as_str).find(|name| value.is_object() && value.get(name).is_none());
        if let Some(name) = missing {
            return Some(format!("{name} is missing in {value}"));
        }
        let below = |(name, part): (&String, &Value)| {
            Some(format!("{name}: {}", self.fault(part, value.get(name)?)?))
        };
        let properties = schema["properties"].as_object();
        if let Some(fault) = properties.into_iter().flatten().find_map(below) {
            return Some(fault);
        }
        value.as_array().into_iter().flatten().find_map(|item| self.fault(&schema["items"], item))
    }
}
