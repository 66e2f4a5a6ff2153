const TITLES: Record<number, string> = {
  400: 'The request is malformed',
  404: 'Not found',
  409: 'Not possible now',
  413: 'Too large',
  415: 'Send application/json',
  422: 'The request cannot be carried out',
  500: 'Something went wrong here',
  503: 'Busy, try again',
}

/** One thing wrong with the input, at a JSON Pointer (`/items/0/quantity`, empty for the whole). */
export interface InputIssue {
  path: string
  message: string
}

/** A refusal: nothing was changed. `message` is written for people; `extra` joins the problem document. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly extra: Readonly<Record<string, unknown>>

  constructor(status: number, message: string, extra: Record<string, unknown> = {}) {
    super(message)
    this.status = status
    this.extra = extra
  }
}

/** The `application/problem+json` document (RFC 9457) of a refusal. */
export const toProblem = (status: number, detail: string, extra: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  ...extra,
  type: 'about:blank',
  title: TITLES[status] ?? 'The request failed',
  status,
  detail,
})
