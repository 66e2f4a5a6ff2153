import createCache from '@emotion/cache'
import { CacheProvider } from '@emotion/react'
import { ThemeProvider } from '@mui/material/styles'
import type { ReactNode } from 'react'
import { theme } from './theme.ts'

// The server fills the nonce in index.html, so `style-src 'self' 'nonce-…'` lets Emotion's styles in and no others.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content
// `prepend`: our own style sheets come later in the document and win over the kit's at equal weight.
const cache = createCache({ key: 'ui', prepend: true, ...(nonce ? { nonce } : {}) })

/** The theme and the style cache around everything that is drawn; the reset is in base.css. */
export function UiProvider({ children }: { children: ReactNode }) {
  return (
    <CacheProvider value={cache}>
      <ThemeProvider theme={theme} defaultMode="system" modeStorageKey="countersign-theme" noSsr>
        {children}
      </ThemeProvider>
    </CacheProvider>
  )
}
