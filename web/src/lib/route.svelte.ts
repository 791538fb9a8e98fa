// The address: its path as segments, links that change it without loading the page anew.

const read = () => location.pathname.split('/').filter(Boolean).map(decodeSegment);

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export const route = $state({ path: read() });

addEventListener('popstate', () => (route.path = read()));

export function go(path: string): void {
  if (path === location.pathname) return;
  history.pushState(null, '', path);
  route.path = read();
  scrollTo(0, 0);
}

/** Follows links within the page; those with a modifier key, a target or a download are the browser's. */
export function followLinks(event: MouseEvent): void {
  const link = (event.target as Element).closest?.('a');
  if (!link || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
  if (link.pathname.startsWith('/api') || link.pathname.includes('.') || link.hash) return;
  event.preventDefault();
  go(link.pathname);
}

export const gamePath = (id: string) => `/game/${encodeURIComponent(id)}`;
export const tournamentPath = (name: string) => `/tournament/${encodeURIComponent(name)}`;
