// The page's entry.

import { mount } from 'svelte';
import App from './App.svelte';
import { keepToken } from './lib/api';
import { loadStatus } from './lib/status.svelte';
import './styles/base.css';
import './styles/board.css';

keepToken();
void loadStatus();
const target = document.getElementById('app')!;
target.replaceChildren();
mount(App, { target });
