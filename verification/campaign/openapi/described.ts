import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'

/** A value of a document or a request, as it came. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value }
export type Members = { [key: string]: Value }

export const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

interface Place {
  file: string
  value: Value
}

/** One value of a request, as the document describes it: where it stands and how it is written. */
export interface DescribedValue {
  in: string
  name: string
  style: string
  explode: boolean
  /** Written as JSON by `content`. */
  isJson: boolean
  isManySegments: boolean
}

/** An operation as its document describes its request. */
export interface DescribedRequest {
  values: DescribedValue[]
  /** Media types of the body; empty without a body. */
  mediaTypes: string[]
  isBodyRequired: boolean
  /** For a media type: how single members of a form are written. */
  encodings: Record<string, Members>
  /** For Swagger 2.0: members of a form and how its lists are joined. */
  formLists: Record<string, string>
}

/**
 * Reads a document a second time and in another way than the product: no upgrade, no bundling, every reference resolved against the file
 * that contains it, and only the parts that make up a request. The product's requests are compared with this reading.
 */
export class Described {
  readonly #files = new Map<string, Value>()
  readonly #document: string

  constructor(document: string) {
    this.#document = document
  }

  /** The request of an operation. */
  request(method: string, path: string): DescribedRequest {
    const root = this.#root()
    const item = this.#follow(this.#member(this.#member({ file: this.#document, value: root }, 'paths'), path))
    const operation = this.#member(item, method.toLowerCase())
    const entries = [...this.#list(operation, 'parameters'), ...this.#list(item, 'parameters')].map((entry) => this.#follow(entry))
    const own = new Map<string, Members>()
    for (const { value } of entries) {
      if (!isMembers(value)) continue
      const key = `${value.in} ${value.name}`
      if (!own.has(key)) own.set(key, value)
    }
    return 'swagger' in root ? swaggerRequest([...own.values()], operation.value, root) : this.#openApiRequest([...own.values()], operation)
  }

  #openApiRequest(parameters: Members[], operation: Place): DescribedRequest {
    const body =
      isMembers(operation.value) && operation.value.requestBody ? this.#follow(this.#member(operation, 'requestBody')) : undefined
    const content = body && isMembers(body.value) && isMembers(body.value.content) ? this.#member(body, 'content') : undefined
    const mediaTypes = content && isMembers(content.value) ? Object.keys(content.value) : []
    const encodings = mediaTypes.map((type): [string, Members] => {
      const media = content && this.#follow(this.#member(content, type)).value
      return [type, isMembers(media) && isMembers(media.encoding) ? media.encoding : {}]
    })
    return {
      values: parameters.map((parameter) => {
        const style = String(parameter.style ?? (parameter.in === 'query' || parameter.in === 'cookie' ? 'form' : 'simple'))
        return {
          in: String(parameter.in),
          name: String(parameter.name),
          style,
          explode: typeof parameter.explode === 'boolean' ? parameter.explode : style === 'form' || style === 'deepObject',
          isJson: isMembers(parameter.content) && Object.keys(parameter.content).some((type) => type.includes('json')),
          isManySegments: parameter['x-multi-segment'] === true,
        }
      }),
      mediaTypes,
      isBodyRequired: body !== undefined && isMembers(body.value) && body.value.required === true,
      encodings: Object.fromEntries(encodings),
      formLists: {},
    }
  }

  #root(): Members {
    const root = this.#file(this.#document)
    if (!isMembers(root)) throw new Error(`${this.#document} is not an object`)
    return root
  }

  #file(path: string): Value {
    const known = this.#files.get(path)
    if (known !== undefined) return known
    const text = readFileSync(path, 'utf8')
    const value = (path.endsWith('.json') ? JSON.parse(text) : parse(text, { merge: true })) as Value
    this.#files.set(path, value)
    return value
  }

  #member({ file, value }: Place, key: string): Place {
    const child = (value as Members)[key]
    if (child === undefined) throw new Error(`${file} has no ${key} where one is looked for`)
    return { file, value: child }
  }

  #list({ file, value }: Place, key: string): Place[] {
    const list = isMembers(value) ? value[key] : undefined
    return Array.isArray(list) ? list.map((entry) => ({ file, value: entry })) : []
  }

  #follow(place: Place): Place {
    const { file, value } = place
    if (!isMembers(value) || typeof value.$ref !== 'string') return place
    const [path = '', pointer = ''] = value.$ref.split('#')
    const target = path === '' ? file : resolve(dirname(file), decodeURIComponent(path))
    const keys = pointer.split('/').slice(1)
    const start: Place = { file: target, value: this.#file(target) }
    const found = keys.reduce(
      (at, key) => this.#member(this.#follow(at), decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')),
      start,
    )
    return this.#follow(found)
  }
}

const COLLECTION_STYLES: Record<string, [style: string, explode: boolean]> = {
  csv: ['form', false],
  ssv: ['spaceDelimited', false],
  pipes: ['pipeDelimited', false],
  tsv: ['tabDelimited', false],
  multi: ['form', true],
}

function swaggerRequest(parameters: Members[], operation: Value, root: Members): DescribedRequest {
  const body = parameters.find((parameter) => parameter.in === 'body')
  const form = parameters.filter((parameter) => parameter.in === 'formData')
  const consumes = [isMembers(operation) ? operation.consumes : undefined, root.consumes].find(Array.isArray)?.map(String)
  const forms = consumes?.filter((type) => /form/.test(type)) ?? []
  const formTypes = forms.length > 0 ? forms : ['multipart/form-data']
  return {
    values: parameters
      .filter((parameter) => parameter.in !== 'body' && parameter.in !== 'formData')
      .map((parameter) => {
        // Only lists have a format. An object in a query is beyond 2.0; it is written as every version since does where nothing is said.
        const format = parameter.type === 'array' ? String(parameter.collectionFormat ?? 'csv') : 'multi'
        const [style, explode] = COLLECTION_STYLES[format] ?? ['form', false]
        return {
          in: String(parameter.in),
          name: String(parameter.name),
          style: parameter.in === 'query' ? style : 'simple',
          explode: parameter.in === 'query' && explode,
          isJson: false,
          isManySegments: false,
        }
      }),
    mediaTypes: body ? (consumes ?? ['application/json']) : form.length > 0 ? formTypes : [],
    isBodyRequired: body?.required === true || form.some((parameter) => parameter.required === true),
    encodings: {},
    formLists: Object.fromEntries(
      form.flatMap((parameter) =>
        parameter.type === 'array' ? [[String(parameter.name), String(parameter.collectionFormat ?? 'csv')]] : [],
      ),
    ),
  }
}
