import { type Failure, plant } from './planted-failure.ts'

const REMOTE_BRAIN_TEST = 'packages/server/src/models/remote-brain.test.ts'
const REMOTE_BRAIN_REQUESTS_TEST = 'packages/server/src/models/remote-brain-requests.test.ts'
const LOOK_UPS_TEST = 'packages/server/src/agent/look-ups.test.ts'
const TOOL_MEDIA_TEST = 'packages/server/src/models/tool-media.test.ts'
const RESULT_TEST = 'packages/tools-mcp/src/result.test.ts'
const REASONING_DETAILS_TEST = 'packages/server/src/models/reasoning-details.test.ts'
const BROKEN_TEST = 'packages/server/src/models/broken.more.test.ts'

/** Failures where an answer of a model or brain is misread. */
export const MODEL_ANSWERS: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'A remote brain’s own look-up was treated as a call, or filled the database',
    held: 'look-ups are bounded text about work done elsewhere: models/brain-look-ups.ts, agent/look-ups.ts',
    bugs: [
      plant('what a require-action names is a look-up as well', [
        REMOTE_BRAIN_TEST,
        'what a require-action names is no look-up, whatever the brain says of it before, after or with no id',
      ]),
      plant('any number of look-ups is kept', [LOOK_UPS_TEST, 'of more than 32 look-ups the first 32 are kept, and how many are left out']),
      plant('a look-up without a result goes back as a call', [
        REMOTE_BRAIN_REQUESTS_TEST,
        'the history holds each ended look-up with its result, under an id that nothing else has',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A picture in a result was sent as text, to a model without vision, or again with every step',
    held: 'each picture, sound and file is sent in one place, the newest first: models/tool-media.ts, tools-mcp/src/result.ts',
    bugs: [
      plant('every provider is given every kind of file', [
        TOOL_MEDIA_TEST,
        'of a kind that a provider does not take it is told the size, never the data',
      ]),
      plant('the oldest pictures of a history take the room', [
        TOOL_MEDIA_TEST,
        'of a long history the newest 20 pictures are sent, of the others the model is told',
      ]),
      plant('a result may have any number of pictures', [
        RESULT_TEST,
        'a picture that is too large, is no Base64 or one of too many is left out with a note that says why',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A model gateway refused the next step because its signed reasoning came back changed',
    held: 'reasoning details are returned as one list with whole texts: models/reasoning-details.ts',
    bugs: [
      plant('text after a signature is joined to what was signed', [
        REASONING_DETAILS_TEST,
        'text after a signature begins a reasoning of its own: what was signed stays as it was',
      ]),
      plant('of a text in pieces the last one goes back', [
        REASONING_DETAILS_TEST,
        'text, summary and signature go back whole, however the gateway cut them',
      ]),
      plant('a reasoning names its call by the id of the provider', [
        REASONING_DETAILS_TEST,
        'a reasoning that names a call names it by the id that the call is sent back with',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'An answer without a finish reason was lost, or a truncated one was executed',
    held: 'an answer is judged by its content: models/ai-sdk.ts',
    bugs: [
      plant('an answer that was not closed is taken for whole', [
        BROKEN_TEST,
        'OpenAI: an answer that holds nothing, or is not closed, is a broken stream without its finish reason',
      ]),
      plant('half an object of arguments is a call', [
        BROKEN_TEST,
        'OpenAI: an answer closed without a finish reason has no call unless the arguments of all are a whole object',
      ]),
      plant('nobody is told that an answer had no finish reason', [
        BROKEN_TEST,
        'OpenAI: an answer closed without a finish reason is judged by what it holds, with a note',
      ]),
    ],
  },
]
