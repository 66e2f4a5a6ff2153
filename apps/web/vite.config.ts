import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, type HtmlTagDescriptor, type Plugin } from 'vite'
import { compressFiles } from './compress-files.ts'

const server = 'http://127.0.0.1:4319'

/** Names in the page what its small entry loads to draw it, so that the browser fetches all of it at once. */
const preloadDrawing: Plugin = {
  name: 'preload-drawing',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle = {} }) {
      const files = new Set<string>()
      const take = (fileName: string) => {
        const chunk = bundle[fileName]
        if (chunk?.type !== 'chunk' || files.has(fileName)) return
        files.add(fileName)
        for (const css of chunk.viteMetadata?.importedCss ?? []) files.add(css)
        for (const imported of chunk.imports) take(imported)
      }
      for (const chunk of Object.values(bundle))
        if (chunk.type === 'chunk' && chunk.facadeModuleId?.endsWith('/src/draw.tsx')) take(chunk.fileName)
      return [...files].filter((file) => !html.includes(`/${file}"`)).map(linkTo)
    },
  },
}

const linkTo = (file: string): HtmlTagDescriptor => ({
  tag: 'link',
  attrs: { rel: file.endsWith('.css') ? 'stylesheet' : 'modulepreload', crossorigin: '', href: `/${file}` },
  injectTo: 'head',
})

export default defineConfig({
  base: '/',
  plugins: [react(), preloadDrawing, compressFiles],
  // `countersign-source`: workspace packages are taken from their TypeScript, so the console never shows an older build of the card.
  resolve: { conditions: ['countersign-source', ...defaultClientConditions] },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { main: 'index.html', 'service-worker': 'src/push/service-worker.ts' },
      // A service worker keeps its address, and serves the folder that it is in.
      output: { entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js') },
    },
  },
  server: { host: '127.0.0.1', proxy: { '/api': server } },
})
