/** One message of a server: more than any answer that a person or a model reads. */
export const MAX_MESSAGE_BYTES = 8_000_000

/** Pages of a list of tools; a server whose pages never end is left after these. */
export const MAX_PAGES = 50

/** Tools of one server. */
export const MAX_TOOLS = 1_000

/** Tools of one server that are pinned, also those that it does not list any more: a tool that comes back is held against its pin. */
export const MAX_PINNED_TOOLS = 5_000

/** A description, as models and people see it. */
export const MAX_DESCRIPTION_CHARACTERS = 4_000

/** The definition of one tool. */
export const MAX_DEFINITION_BYTES = 100_000

/** All definitions of a server. */
export const MAX_DEFINITIONS_BYTES = 5_000_000

/** The name that a server gives to a task. */
export const MAX_TASK_ID_CHARACTERS = 1_000

/** Text in the result of a call. */
export const MAX_TEXT_CHARACTERS = 200_000

/** Pictures, sounds, files and embedded texts in the result of a call. */
export const MAX_MEDIA = 20

/** The result of a call with all that is in it, written as JSON: below what the gate keeps of one. */
export const MAX_RESULT_BYTES = 900_000
