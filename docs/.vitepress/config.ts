import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { outsideLinks } from '../../scripts/docs/outside-links.ts'
import { publicPictures } from '../../scripts/docs/public-pictures.ts'
import { navigation, sidebar } from '../../scripts/docs/sidebar.ts'

const DOCS = fileURLToPath(new URL('../', import.meta.url))

// A link to a page that does not exist fails the build (VitePress's own check). Nothing is loaded from another host.
export default defineConfig({
  title: 'Countersign',
  description: 'The approval layer for AI agents',
  lang: 'en-GB',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/countersign.svg' }]],
  outDir: './.vitepress/dist',
  srcExclude: ['reference/generated/**', 'node_modules/**'],
  markdown: { config: (markdown) => void markdown.use(outsideLinks, DOCS).use(publicPictures) },
  themeConfig: {
    nav: navigation(),
    sidebar: sidebar(DOCS),
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    externalLinkIcon: true,
  },
})
