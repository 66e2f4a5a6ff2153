import { createClient } from '@countersign/client'
import { loadMarks } from '@countersign/react'
import { takeHeadStart } from './head-start.ts'
import { preloadPage } from './pages.ts'
import { storedSignIn } from './sign-in/stored-sign-in.ts'

// This file is small and runs first. It asks for everything that the first drawing needs, so that nothing waits for anything else.
const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
const client = createClient({ signInStorage: storedSignIn })
const headStart = takeHeadStart(client)
// Pages show outcomes of actions outside of cards, and no name in them may stand unmarked.
const marks = loadMarks().then(
  () => undefined,
  (failure: unknown) => failure,
)
// Nothing is drawn before all of it is there: React holds back for 300 ms what replaces a fallback that it has shown.
Promise.all([import('./draw.tsx'), marks, preloadPage(location.pathname), headStart.settled]).then(
  ([{ draw }, failure]) => draw(root, { client, headStart, failure }),
  () => {
    root.textContent = 'The console could not be loaded. Reload the page.'
  },
)
