import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import '@countersign/react/card.css'
import './ui/base.css'
import { App, type AppProps, noteEntered } from './app.tsx'

/** Draws the console into an element. */
export function draw(root: HTMLElement, props: AppProps): void {
  noteEntered(props.headStart.entered)
  // In a transition React works in short slices, between which the browser can answer a key or a finger.
  startTransition(() =>
    createRoot(root).render(
      <StrictMode>
        <App {...props} />
      </StrictMode>,
    ),
  )
}
