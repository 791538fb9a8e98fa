// Language, colours and sound: kept in this browser, applied to the document.

export type Theme = 'auto' | 'light' | 'dark';
export type Language = 'en' | 'de';

interface Settings {
  theme: Theme;
  language: Language;
  sound: boolean;
}

const KEY = 'zeitnot';

function stored(): Partial<Settings> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}');
  } catch {
    return {};
  }
}

const fromBrowser: Language = navigator.language.startsWith('de') ? 'de' : 'en';

export const settings: Settings = $state({
  theme: 'auto',
  language: fromBrowser,
  sound: true,
  ...stored(),
});

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const system = $state({ dark: prefersDark.matches });
prefersDark.addEventListener('change', (event) => (system.dark = event.matches));

/** Whether the page is dark now. */
export const isDark = () => (settings.theme === 'auto' ? system.dark : settings.theme === 'dark');

export function change(changed: Partial<Settings>): void {
  Object.assign(settings, changed);
  const root = document.documentElement;
  if (settings.theme === 'auto') delete root.dataset.theme;
  else root.dataset.theme = settings.theme;
  root.lang = settings.language;
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
