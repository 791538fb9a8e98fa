// Sets colours and language before the first paint; src/lib/settings.svelte.ts changes them later.
try {
  const { theme, language } = JSON.parse(localStorage.getItem('zeitnot') || '{}');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  document.documentElement.lang = language || (navigator.language.startsWith('de') ? 'de' : 'en');
} catch {
  // Without storage the page follows the browser.
}
