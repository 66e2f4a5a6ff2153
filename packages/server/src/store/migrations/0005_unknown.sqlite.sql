-- What a person has to find out, among millions of settled actions.
create index action_unknown on action (id) where state = 'outcome_unknown';
