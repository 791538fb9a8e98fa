// The build of the page: small files with a hash in their names, nothing inline, the licences of what is in them.
import { readFileSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

const SHIPPED = ['chessgroundx', 'svelte', 'uplot'];

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** Texts of licences that a copy of this file must carry; the GPL's own stands beside the program. */
function licences(): Plugin {
  const notice = (name: string) => {
    const { version, license } = JSON.parse(read(`node_modules/${name}/package.json`));
    const file = name === 'svelte' ? 'LICENSE.md' : 'LICENSE';
    const text = license.startsWith('GPL') ? '' : `\n${read(`node_modules/${name}/${file}`).trim()}\n`;
    return `${name} ${version}: ${license}\n${text}`;
  };
  return {
    name: 'licences',
    generateBundle() {
      const parts = SHIPPED.map(notice);
      const source = `${read('src/assets/licenses.txt').trim()}\n\n${parts.join('\n')}`;
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source });
    },
  };
}

export default defineConfig({
  plugins: [svelte(), licences()],
  build: {
    outDir: '../crates/web/page',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: { '/api': { target: process.env.ARENA ?? 'http://127.0.0.1:8080', ws: true } },
  },
});
