// The server's refusal of a form: its text begins with the setting that they are about, `openings: line 3: …`,
// `rounds = 9: …`, or a part of one, `access.keys[0]: …`.

export interface Fault {
  /** Nothing: it is about the whole. */
  field: string | null;
  text: string;
}

export function faultOf({ message }: Error): Fault {
  const [beginning, field] = /^([a-z][a-z0-9_]*)[.[\w\]]*(?:: | = )/.exec(message) ?? [];
  if (!beginning || !field) return { field: null, text: message };
  return { field, text: beginning.endsWith(': ') ? message.slice(beginning.length) : message };
}
