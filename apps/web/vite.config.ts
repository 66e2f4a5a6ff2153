import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'

const server = 'http://127.0.0.1:4319'

export default defineConfig({
  base: '/',
  plugins: [react()],
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
