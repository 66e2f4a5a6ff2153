import { FILE_ARGUMENTS, highRisk, type KnownServer, reads, readsUnlessToFile } from './known-tool.ts'

/** The reference server of the protocol. `get-env` claims to be a read, but it returns environment variables, so it needs approval. */
export const EVERYTHING: KnownServer = {
  startedBy: ['@modelcontextprotocol/server-everything', 'mcp-server-everything'],
  tools: {
    ...reads('echo', 'get-annotated-message', 'get-resource-links', 'get-resource-reference', 'get-structured-content', 'get-sum'),
    ...reads('get-tiny-image', 'trigger-long-running-operation'),
    'get-env': { effect: 'write' },
  },
}

export const SEQUENTIAL_THINKING: KnownServer = {
  startedBy: ['@modelcontextprotocol/server-sequential-thinking', 'mcp-server-sequential-thinking'],
  tools: reads('sequentialthinking'),
}

/** Covers the older package, whose tools have no annotations, and GitHub's own server. */
export const GITHUB: KnownServer = {
  startedBy: ['@modelcontextprotocol/server-github', 'mcp-server-github', 'github-mcp-server', 'api.githubcopilot.com'],
  tools: {
    ...reads('get_me', 'get_file_contents', 'get_commit', 'get_issue', 'get_issue_comments', 'issue_read', 'get_label', 'list_label'),
    ...reads(
      'get_pull_request',
      'get_pull_request_files',
      'get_pull_request_status',
      'get_pull_request_comments',
      'get_pull_request_reviews',
    ),
    ...reads('get_pull_request_diff', 'pull_request_read', 'get_tag', 'get_latest_release', 'get_release_by_tag'),
    ...reads('list_branches', 'list_commits', 'list_issues', 'list_issue_types', 'list_pull_requests', 'list_releases', 'list_tags'),
    ...reads('search_code', 'search_issues', 'search_pull_requests', 'search_repositories', 'search_users'),
    ...highRisk('merge_pull_request', 'delete_file', 'push_files', 'create_or_update_file', 'create_repository', 'fork_repository'),
  },
}

export const SLACK: KnownServer = {
  startedBy: ['@modelcontextprotocol/server-slack', 'mcp-server-slack'],
  tools: reads('slack_list_channels', 'slack_get_channel_history', 'slack_get_thread_replies', 'slack_get_users', 'slack_get_user_profile'),
}

/** Its annotations are derived from HTTP methods: a search is marked destructive because it is a POST. */
export const NOTION: KnownServer = {
  startedBy: ['@notionhq/notion-mcp-server', 'notion-mcp-server'],
  tools: {
    ...reads('API-get-user', 'API-get-users', 'API-get-self', 'API-post-search', 'API-post-database-query', 'API-query-data-source'),
    ...reads('API-retrieve-a-page', 'API-retrieve-a-page-property', 'API-retrieve-a-block', 'API-get-block-children'),
    ...reads('API-retrieve-a-database', 'API-retrieve-a-data-source', 'API-retrieve-a-comment'),
    ...highRisk('API-delete-a-block'),
  },
}

/** Opening or clicking a page can have any effect, so only the tools that inspect the page count as reads. */
export const PLAYWRIGHT: KnownServer = {
  startedBy: ['@playwright/mcp', 'mcp-server-playwright'],
  fileArguments: FILE_ARGUMENTS,
  tools: {
    ...readsUnlessToFile('browser_snapshot', 'browser_console_messages', 'browser_network_requests'),
    ...highRisk('browser_evaluate', 'browser_run_code', 'browser_file_upload'),
  },
}

export const CHROME_DEVTOOLS: KnownServer = {
  startedBy: ['chrome-devtools-mcp'],
  fileArguments: FILE_ARGUMENTS,
  tools: {
    ...readsUnlessToFile('list_pages', 'list_console_messages', 'get_console_message', 'list_network_requests', 'get_network_request'),
    ...highRisk('evaluate_script', 'upload_file'),
  },
}

/** `kubectl_context` claims to be a read, but it also sets the context. */
export const KUBERNETES: KnownServer = {
  startedBy: ['mcp-server-kubernetes'],
  tools: {
    kubectl_context: { effect: 'write' },
    ...reads('kubectl_get', 'kubectl_describe', 'kubectl_logs', 'explain_resource', 'list_api_resources', 'ping'),
    ...highRisk('kubectl_delete', 'kubectl_generic', 'exec_in_pod', 'cleanup', 'cleanup_pods', 'uninstall_helm_chart', 'node_management'),
    ...highRisk('kubectl_apply', 'kubectl_patch', 'kubectl_rollout', 'kubectl_scale'),
  },
}
