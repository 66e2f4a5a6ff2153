import { createClient } from '@countersign/client'
import { loadMarks } from '@countersign/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import '@countersign/react/card.css'
import './ui/base.css'
import { App } from './app.tsx'
import { storedSignIn } from './sign-in/stored-sign-in.ts'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
// Pages show outcomes of actions outside of cards, and no name in them may stand unmarked.
const ready = loadMarks()
createRoot(root).render(
  <StrictMode>
    <App client={createClient({ signInStorage: storedSignIn })} ready={ready} />
  </StrictMode>,
)
