import { createClient } from '@countersign/client'
import { loadMarks } from '@countersign/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import '@countersign/react/card.css'
import './ui/base.css'
import { App, beginToEnter } from './app.tsx'
import { preloadPage } from './pages.ts'
import { storedSignIn } from './sign-in/stored-sign-in.ts'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
const client = createClient({ signInStorage: storedSignIn })
beginToEnter(client)
preloadPage(location.pathname)
const draw = (failure?: unknown) =>
  createRoot(root).render(
    <StrictMode>
      <App client={client} failure={failure} />
    </StrictMode>,
  )
// Pages show outcomes of actions outside of cards, and no name in them may stand unmarked. Nothing is drawn before the marks are there: React
// holds back for 300 ms what replaces a fallback that it has shown.
loadMarks().then(() => draw(), draw)
