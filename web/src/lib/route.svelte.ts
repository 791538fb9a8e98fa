// The address: its path as segments, links that change it without loading the page anew.

function read(): { path: string[]; section: string } {
  const path = location.pathname.split('/').filter(Boolean).map(decodeSegment);
  return { path, section: history.state?.section ?? path[0] ?? '' };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** `section` is the first segment; for a game, that of the page where it was opened. */
export const route = $state(read());

addEventListener('popstate', () => Object.assign(route, read()));

export function go(path: string): void {
  if (path === location.pathname) return;
  const section = path.startsWith('/game/') ? route.section : undefined;
  history.pushState({ section }, '', path);
  Object.assign(route, read());
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
