import { type Failure, plant } from './planted-failure.ts'

const PATCH_TEST = 'packages/server/src/tools/workspace/patch.test.ts'
const DIFF_TEST = 'packages/server/src/tools/workspace/diff.test.ts'
const GIT_TEST = 'packages/server/src/tools/workspace/git/git.test.ts'
const WRITTEN_REQUEST_TEST = 'packages/server/src/tools/openapi/written-request.test.ts'
const IMPERFECT_DOCUMENT_TEST = 'packages/server/src/tools/openapi/imperfect-document.test.ts'
const TRUST_TEST = 'packages/server/src/tools/mcp/trust.test.ts'

/** What servers, files and documents could make of a call. */
export const SOURCES: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'A patch landed in part, in another order than shown, or changed the line ends of a whole file',
    held: 'a patch is all of its files or none, and edits keep the line ends: tools/workspace/patch.ts, edits.ts',
    bugs: [
      plant(
        'a patch may name a file twice',
        ['packages/server/src/tools/workspace/patch.ts', '  requireApart(plans)\n', ''],
        [PATCH_TEST, 'a patch of which one file cannot be changed changes none, and nobody is asked about it'],
      ),
      plant(
        'a patch that landed in part is said not to have been done',
        [
          'packages/server/src/tools/workspace/patch.ts',
          "return state === 'before' ? { done: false }",
          "return state !== 'other' ? { done: false }",
        ],
        [PATCH_TEST, 'a patch that breaks in the middle says which files it changed, and its outcome is not known'],
      ),
      plant(
        'an edit brings lines with LF into a file of CRLF',
        ['packages/server/src/tools/workspace/edits.ts', "text.includes('\\r\\n') && !/(?<!\\r)\\n/.test(text)", 'false'],
        [DIFF_TEST, 'an edit written with LF in a file whose lines all end with CRLF keeps them, whatever the edit is'],
      ),
      plant(
        'one CRLF in a file makes every edit one with CRLF',
        ['packages/server/src/tools/workspace/edits.ts', ' && !/(?<!\\r)\\n/.test(text)', ''],
        [DIFF_TEST, 'an edit written with LF in a file whose lines all end with CRLF keeps them, whatever the edit is'],
      ),
    ],
  },
  {
    whose: 'ours',
    failure: 'A nested repository ended every listing and search',
    held: 'git is asked about what is inside of it by the ignore files alone: tools/workspace/git/reads.ts',
    bugs: [
      plant(
        'a nested repository is a folder like others to git',
        [
          'packages/server/src/tools/workspace/git/reads.ts',
          '.some((folder) => nested.has(folder))',
          `.some((folder) => nested.has(\`\${folder}/\`))`,
        ],
        [GIT_TEST, 'a nested repository is listed and searched like any folder, without what it ignores itself'],
      ),
      plant(
        'what a nested repository ignores is listed',
        [
          'packages/server/src/tools/workspace/git/reads.ts',
          "checkIgnored(git, ['--no-index'], inside, signal)",
          "checkIgnored(git, ['--no-index'], [], signal)",
        ],
        [GIT_TEST, 'a nested repository is listed and searched like any folder, without what it ignores itself'],
      ),
    ],
  },
  {
    whose: 'ours',
    failure: 'A value of a path led to another resource',
    held: 'a slash is sent as %2F, and what leads elsewhere is refused: tools/openapi/write-parameters.ts',
    bugs: [
      plant(
        'a slash in a value is a slash of the path',
        [
          'packages/server/src/tools/openapi/write-parameters.ts',
          'const encode = (piece: JsonValue) => encodeURIComponent(asText(piece))\n  if',
          'const encode = (piece: JsonValue) => encodeURI(asText(piece))\n  if',
        ],
        [WRITTEN_REQUEST_TEST, 'a slash in a value of the path is sent as %2F, and what leads elsewhere is refused in every spelling'],
      ),
      plant(
        'dots behind a slash pass',
        ['packages/server/src/tools/openapi/write-parameters.ts', "(typeof piece === 'string' ? piece.split('/') : [piece])", '[piece]'],
        [WRITTEN_REQUEST_TEST, 'a slash in a value of the path is sent as %2F, and what leads elsewhere is refused in every spelling'],
      ),
    ],
  },
  {
    whose: 'ours',
    failure: 'One flaw of a document cost all of its operations',
    held: 'a flaw costs what needs it, and is told: tools/openapi/parse-text.ts, read-document.ts, plan.ts',
    bugs: [
      plant(
        'a key that is there twice costs the whole document',
        [
          'packages/server/src/tools/openapi/parse-text.ts',
          'document.errors.find((error) => !repeated.includes(error))',
          'document.errors.at(0)',
        ],
        [IMPERFECT_DOCUMENT_TEST, 'a key that a YAML document has twice costs nothing but a note with its line'],
      ),
      plant(
        'nobody is told of a key that is there twice',
        ['packages/server/src/tools/openapi/parse-text.ts', 'repeated.slice(0, MAX_NOTES)', 'repeated.slice(0, 0)'],
        [IMPERFECT_DOCUMENT_TEST, 'a key that a YAML document has twice costs nothing but a note with its line'],
      ),
      plant(
        'a missing file costs every operation of the document',
        [
          'packages/server/src/tools/openapi/read-document.ts',
          '    if (!(error instanceof Error)) throw error\n',
          '    if (error) throw error\n',
        ],
        [
          IMPERFECT_DOCUMENT_TEST,
          'an operation whose own file is missing is left out with the reason, told when the server starts and by doctor',
        ],
      ),
      plant(
        'a format refuses what does not fit its name',
        [
          'packages/server/src/tools/openapi/plan.ts',
          "isMap || key !== 'format' || CHECKED_FORMATS.has(String(value))",
          "isMap || key !== '' || CHECKED_FORMATS.has(String(value))",
        ],
        [
          IMPERFECT_DOCUMENT_TEST,
          'a format is a hint: whatever its name and the value, a call that fits the rest of the document goes out',
        ],
      ),
    ],
  },
  {
    whose: 'ours',
    failure: 'A server called its tool a read, and it ran unasked',
    held: 'hints of reading count only where they are trusted, and never against another word of the server: tools/mcp/draft.ts',
    bugs: [
      plant(
        'a tool that says it reads and destroys is a read',
        [
          'packages/server/src/tools/mcp/draft.ts',
          'annotations.readOnlyHint === true && annotations.destructiveHint !== true',
          'annotations.readOnlyHint === true',
        ],
        [TRUST_TEST, 'without trust no hint makes a read, and with it only a plain readOnlyHint does'],
      ),
      plant(
        'a write that says later that it reads is a read at once',
        [
          'packages/server/src/tools/mcp/draft.ts',
          'saysSo(definition) && (was === undefined || saysSo(was.definition)) &&',
          'saysSo(definition) &&',
        ],
        [TRUST_TEST, 'a write that says later that it reads stays a write until a person accepts it'],
      ),
      plant(
        'hints count although nobody trusts them',
        ['packages/server/src/tools/mcp/draft.ts', 'if (!trustReadOnlyHints || settingsOf', 'if (settingsOf'],
        [TRUST_TEST, 'without trust no hint makes a read, and with it only a plain readOnlyHint does'],
      ),
    ],
  },
]
