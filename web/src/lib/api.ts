// Requests to the arena's API. The organiser's token comes once in the fragment and stays in this tab.

const TOKEN = 'zeitnot-token';

/** Takes the token out of the address, so that a shared link does not carry it. */
export function keepToken(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!token) return;
  sessionStorage.setItem(TOKEN, token);
  history.replaceState(null, '', location.pathname + location.search);
}

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;
export const setToken = (token: string): void => sessionStorage.setItem(TOKEN, token);
export const forgetToken = (): void => sessionStorage.removeItem(TOKEN);

const authorization = (): Record<string, string> => {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { Authorization: `Bearer ${token}` } : {};
};

/** A refusal of the server, in its own words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function send(method: string, path: string, body?: unknown): Promise<Response> {
  const headers = authorization();
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const response = await fetch(`/api/${path}`, { method, headers, body: JSON.stringify(body) });
  if (response.ok) return response;
  const told = await response.json().catch(() => null);
  throw new Refused(response.status, told?.error ?? `${response.status} ${response.statusText}`);
}

export const get = async <T>(path: string): Promise<T> => (await send('GET', path)).json();
export const getText = async (path: string): Promise<string> => (await send('GET', path)).text();

/** Changes something; the answer is JSON, or nothing. */
export async function change<T>(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const text = await (await send(method, path, body)).text();
  return JSON.parse(text || 'null');
}

export const segment = encodeURIComponent;
