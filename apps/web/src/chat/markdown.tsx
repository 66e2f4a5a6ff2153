import { showInvisible, showProse } from '@countersign/react'
import { memo, type ReactNode } from 'react'
import Markdown, { type Components } from 'react-markdown'
import rehypeSanitize from 'rehype-sanitize'

const FORBIDDEN = ['img', 'input', 'picture', 'video', 'audio', 'iframe', 'svg']
// The page's own headings are h1 and h2: a model's heading must not stand among them.
const heading = ({ children }: { children?: ReactNode }) => <h3>{children}</h3>

const COMPONENTS: Components = {
  a: ({ href, children }) => <OutsideLink href={href}>{children}</OutsideLink>,
  h1: heading,
  h2: heading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
}
const PLUGINS = [rehypeSanitize, () => spellOut]

/** Applied after parsing, because `&#x202E;` becomes a character only then. */
function spellOut(node: { value?: unknown; children?: object[] }): void {
  if (typeof node.value === 'string') node.value = showProse(node.value)
  node.children?.forEach(spellOut)
}

/** Renders a model's Markdown without raw HTML, images or requests. Links show their target. */
export default memo(function ModelMarkdown({ text }: { text: string }) {
  return (
    <Markdown skipHtml rehypePlugins={PLUGINS} disallowedElements={FORBIDDEN} unwrapDisallowed components={COMPONENTS}>
      {text}
    </Markdown>
  )
})

function OutsideLink({ href, children }: { href?: string; children?: ReactNode }) {
  const target = readTarget(href)
  if (!target) return <>{children}</>
  return (
    <>
      <a href={target.href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>{' '}
      <span className="link-host">({showInvisible(`//${target.host}`).slice(2)})</span>
    </>
  )
}

/** Only links to the web: anything else, and anything that would stay on this origin, is plain text. */
function readTarget(href: string | undefined): URL | undefined {
  const url = href ? URL.parse(href) : null
  return url && (url.protocol === 'https:' || url.protocol === 'http:') && url.origin !== location.origin ? url : undefined
}
