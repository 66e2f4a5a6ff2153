import { showProse } from '@countersign/react'
import { lazy, Suspense } from 'react'

const ModelMarkdown = lazy(() => import('./markdown.tsx'))

/** A model's text; plain until the renderer is loaded, at the same place and nearly the same height. */
export function ModelText({ text }: { text: string }) {
  return (
    <div className="model-text">
      <Suspense fallback={<p className="plain-text">{showProse(text)}</p>}>
        <ModelMarkdown text={text} />
      </Suspense>
    </div>
  )
}
