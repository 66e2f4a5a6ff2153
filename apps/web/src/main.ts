import { createClient } from '@countersign/client'
import { loadMarks } from '@countersign/react'
import { takeHeadStart } from './head-start.ts'
import { preloadPage } from './pages.ts'
import { storedSignIn, watchSignInElsewhere } from './sign-in/stored-sign-in.ts'

// This small file runs first and sends every request that the first drawing needs, so that none waits for another.
const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
watchSignInElsewhere()
const client = createClient({ signInStorage: storedSignIn })
const headStart = takeHeadStart(client)
// Pages show outcomes of actions outside of cards, and no name in them may stand unmarked.
const marks = loadMarks().then(
  () => undefined,
  (failure: unknown) => failure,
)
// Drawing waits for all of them, because React delays by 300 ms what replaces a fallback that it has shown.
Promise.all([import('./draw.tsx'), marks, preloadPage(location.pathname), headStart.settled]).then(
  ([{ draw }, failure]) => draw(root, { client, headStart, failure }),
  () => {
    root.textContent = 'The console could not be loaded. Reload the page.'
  },
)
