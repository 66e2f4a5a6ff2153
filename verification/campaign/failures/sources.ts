import { type Failure, plant } from './planted-failure.ts'

const PATCH_TEST = 'packages/tools-workspace/src/patch.test.ts'
const DIFF_TEST = 'packages/tools-workspace/src/diff.test.ts'
const GIT_TEST = 'packages/tools-workspace/src/git/git.more.test.ts'
const WRITTEN_REQUEST_TEST = 'packages/tools-openapi/src/written-request.test.ts'
const IMPERFECT_DOCUMENT_TEST = 'packages/tools-openapi/src/imperfect-document.test.ts'
const TRUST_TEST = 'packages/tools-mcp/src/trust.test.ts'

/** Failures where servers, files and documents change the meaning of a call. */
export const SOURCES: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'A patch was applied in part, in another order than shown, or changed all line ends of a file',
    held: 'a patch applies to all of its files or none, and edits keep line ends: tools-workspace/src/patch.ts, toolkit/src/text-work/edits.ts',
    bugs: [
      plant('a patch may name a file twice', [
        PATCH_TEST,
        'a patch of which one file cannot be changed changes none, and nobody is asked about it',
      ]),
      plant('a patch that landed in part is said not to have been done', [
        PATCH_TEST,
        'a patch that breaks in the middle says which files it changed, and its outcome is not known',
      ]),
      plant('an edit brings lines with LF into a file of CRLF', [
        DIFF_TEST,
        'an edit written with LF in a file whose lines all end with CRLF keeps them, whatever the edit is',
      ]),
      plant('one CRLF in a file makes every edit one with CRLF', [
        DIFF_TEST,
        'an edit written with LF in a file whose lines all end with CRLF keeps them, whatever the edit is',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A nested repository broke every listing and search',
    held: 'a nested repository is read with its ignore files only: tools-workspace/src/git/reads.ts',
    bugs: [
      plant('a nested repository is a folder like others to git', [
        GIT_TEST,
        'a nested repository is listed and searched like any folder, without what it ignores itself',
      ]),
      plant('what a nested repository ignores is listed', [
        GIT_TEST,
        'a nested repository is listed and searched like any folder, without what it ignores itself',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A path value addressed another resource',
    held: 'a slash is sent as %2F, and values that lead elsewhere are refused: tools-openapi/src/write-parameters.ts',
    bugs: [
      plant('a slash in a value is a slash of the path', [
        WRITTEN_REQUEST_TEST,
        'a slash in a value of the path is sent as %2F, and what leads elsewhere is refused in every spelling',
      ]),
      plant('dots behind a slash pass', [
        WRITTEN_REQUEST_TEST,
        'a slash in a value of the path is sent as %2F, and what leads elsewhere is refused in every spelling',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'One error in a document removed all of its operations',
    held: 'an error removes only what depends on it, and is reported: tools-openapi/src/parse-text.ts, read-document.ts, plan.ts',
    bugs: [
      plant('a key that is there twice costs the whole document', [
        IMPERFECT_DOCUMENT_TEST,
        'a key that a YAML document has twice costs nothing but a note with its line',
      ]),
      plant('nobody is told of a key that is there twice', [
        IMPERFECT_DOCUMENT_TEST,
        'a key that a YAML document has twice costs nothing but a note with its line',
      ]),
      plant('a missing file costs every operation of the document', [
        IMPERFECT_DOCUMENT_TEST,
        'an operation whose own file is missing is left out with the reason, told when the server starts and by doctor',
      ]),
      plant('a format refuses what does not fit its name', [
        IMPERFECT_DOCUMENT_TEST,
        'a format is a hint: whatever its name and the value, a call that fits the rest of the document goes out',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A server declared its tool a read, and it ran without approval',
    held: 'read hints count only from trusted servers, and never against another hint of the server: tools-mcp/src/draft.ts',
    bugs: [
      plant('a tool that says it reads and destroys is a read', [
        TRUST_TEST,
        'without trust no hint makes a read, and with it only a plain readOnlyHint does',
      ]),
      plant('a write that says later that it reads is a read at once', [
        TRUST_TEST,
        'a write that says later that it reads stays a write until a person accepts it',
      ]),
      plant('hints count although nobody trusts them', [
        TRUST_TEST,
        'without trust no hint makes a read, and with it only a plain readOnlyHint does',
      ]),
    ],
  },
]
